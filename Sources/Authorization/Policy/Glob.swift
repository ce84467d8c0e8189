/// A pattern in which `*` stands for any text, slashes and nothing included, and `?` for one character. Nothing else is
/// special, so that a name with brackets or backslashes in it, as systemd escapes them, is a pattern of itself.
struct Glob: Hashable, Sendable {
    /// As it was written.
    var text: String

    /// Whether it stands for more than one text.
    var isOpen: Bool { text.contains("*") || text.contains("?") }

    /// Whether a text is one that it stands for, as a whole; in time of at most the product of both lengths.
    func matches(_ candidate: String) -> Bool {
        let (pattern, text) = (Array(text.unicodeScalars), Array(candidate.unicodeScalars))
        var (place, position) = (0, 0)
        // Where to go on when what follows the latest star does not fit: that star takes one character more.
        var retry: (place: Int, position: Int)?
        while position < text.count {
            if place < pattern.count, pattern[place] == "*" {
                retry = (place + 1, position)
                place += 1
            } else if place < pattern.count, pattern[place] == "?" || pattern[place] == text[position] {
                place += 1
                position += 1
            } else if let star = retry {
                retry = (star.place, star.position + 1)
                (place, position) = (star.place, star.position + 1)
            } else {
                return false
            }
        }
        return pattern[place...].allSatisfy { $0 == "*" }
    }
}
