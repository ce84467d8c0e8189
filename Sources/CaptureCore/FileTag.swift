/// A text about a whole movie or sound, such as its title. Its file has it beside the date and the devices.
public enum FileTag: String, Hashable, Sendable, CaseIterable {
    /// Its name.
    case title
    /// Its contents.
    case description
    /// Its maker.
    case author
    /// Its owner.
    case copyright
    /// Anything else.
    case comment
    /// Its place, as ISO 6709 writes it: `+48.1371+011.5754/`, or `+48.1371+011.5754+519/` with metres above
    /// the sea.
    case location
    /// The program that recorded it, instead of `Captured`.
    case software

    /// Bytes of UTF-8 that a value may have.
    public static let longest = 1000

    /// Those that the files of a format keep. A comment of FLAC and Opus is their description.
    public static func known(to format: String) -> [FileTag] {
        switch format {
        case "mkv", "mp4", "mov", "m4a": allCases
        case "flac", "opus": allCases.filter { $0 != .comment }
        case "wav": allCases.filter { $0 != .location }
        default: []
        }
    }

    /// Refuses values that a file of a format does not keep.
    ///
    /// - Throws: `CaptureError.Code.invalidArgument` naming the tag, and what would be right.
    public static func check(_ tags: [FileTag: String], for format: String) throws(CaptureError) {
        let known = known(to: format)
        for (tag, value) in tags.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            func wrong(_ text: String) -> CaptureError {
                CaptureError(.invalidArgument, "the tag '\(tag.rawValue)' \(text)")
            }
            guard known.contains(tag) else {
                let names = known.map(\.rawValue).joined(separator: ", ")
                throw wrong("is not kept by \(format) files\(known.isEmpty ? "" : "; they keep \(names)")")
            }
            guard !value.isEmpty, value.utf8.count <= longest else {
                throw wrong("has \(value.utf8.count) bytes; give it 1 to \(longest)")
            }
            guard value.isLine, !value.unicodeScalars.contains("\u{fffd}") else {
                throw wrong("has control characters, or is not UTF-8; give one line of text")
            }
            guard tag != .location || isPlace(value) else {
                throw wrong("is no place as ISO 6709 writes it; give degrees, as in +48.1371+011.5754/")
            }
        }
    }

    /// Whether a text is latitude and longitude in degrees, with the metres above the sea if they are known.
    private static func isPlace(_ text: String) -> Bool {
        guard text.last == "/" else { return false }
        var parts: [String] = []
        for letter in text.dropLast() {
            guard letter.isASCII, letter.isNumber || "+-.".contains(letter) else { return false }
            if letter == "+" || letter == "-" { parts.append("") }
            guard !parts.isEmpty else { return false }
            parts[parts.count - 1].append(letter)
        }
        guard (2...3).contains(parts.count) else { return false }
        let numbers = parts.compactMap { $0.last == "." ? nil : Double($0) }
        let whole = parts.map { $0.dropFirst().prefix { $0 != "." }.count }
        return numbers.count == parts.count && whole[0] == 2 && whole[1] == 3 && abs(numbers[0]) <= 90
            && abs(numbers[1]) <= 180
    }
}

extension OutputDescription {
    /// Refuses tags that its file does not keep, and any of what is no movie and no sound.
    ///
    /// - Throws: `CaptureError.Code.invalidArgument` naming the tag, and what would be right.
    public func checkTags() throws(CaptureError) {
        guard !tags.isEmpty else { return }
        guard kind == .movie || kind == .sound else {
            throw CaptureError(
                .invalidArgument,
                "the output '\(name)' is \(kind.phrase), which has no tags; only movies and sounds have them"
            )
        }
        try FileTag.check(tags, for: format)
    }
}
