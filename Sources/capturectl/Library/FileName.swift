/// A file's name as the disk tells names apart: by their bytes. Strings are equal where they look the same, as `é` in one
/// character and in two.
struct FileName: Hashable, Sendable {
    let text: String

    init(_ text: String) {
        self.text = text
    }

    /// The name of what these are the facts of by their own name, `NAME.json`; `nil` for a name that is not of facts.
    var subject: FileName? {
        guard text.utf8.suffix(5).elementsEqual(".json".utf8) else { return nil }
        return FileName(String(decoding: text.utf8.dropLast(5), as: UTF8.self))
    }

    static func == (first: FileName, second: FileName) -> Bool {
        first.text.utf8.elementsEqual(second.text.utf8)
    }

    func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }
}
