/// A file's name as the disk tells names apart: by their bytes. Strings are equal where they look the same, as `é` in one
/// character and in two.
struct FileName: Hashable, Sendable {
    let text: String

    init(_ text: String) {
        self.text = text
    }

    static func == (first: FileName, second: FileName) -> Bool {
        first.text.utf8.elementsEqual(second.text.utf8)
    }

    func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }
}
