/// The contents of `/etc/ld.so.preload`, which ld.so(8) loads into every program. What others wrote stays as it is, byte by
/// byte.
struct PreloadList: Equatable {
    static let place = "/etc/ld.so.preload"

    private(set) var bytes: [UInt8]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The libraries that it names. A `#` begins a comment; white space and `:` separate.
    var libraries: [String] { words.map { String(decoding: bytes[$0], as: UTF8.self) } }

    /// Whether it can name a library: some characters separate.
    static func canName(_ library: String) -> Bool {
        library.hasPrefix("/")
            && !library.utf8.contains { $0 <= 0x20 || $0 == 0x3a || $0 == 0x23 || $0 == 0x24 || $0 == 0x7f }
    }

    /// Whether the last line is without an end.
    var isOpen: Bool { bytes.last.map { $0 != PreloadList.newline } ?? false }

    /// Adds a library in a line of its own, behind all others: ld.so(8) of glibc 2.36 takes words of a second comment for
    /// libraries if what stands before it is too long.
    mutating func add(_ library: String) {
        if isOpen { bytes.append(PreloadList.newline) }
        bytes += Array("\(library)\n".utf8)
    }

    /// Takes a library out, with its line if nothing else is in that.
    ///
    /// - Parameter wasOpen: Whether the last line was without an end before the library was added.
    /// - Returns: Whether it was there.
    @discardableResult
    mutating func remove(_ library: String, wasOpen: Bool = false) -> Bool {
        let name = Array(library.utf8)
        var isChanged = false
        for word in words.reversed() where bytes[word].elementsEqual(name) {
            isChanged = true
            let start = bytes[..<word.lowerBound].lastIndex(of: PreloadList.newline).map { $0 + 1 } ?? 0
            let end = bytes[word.upperBound...].firstIndex(of: PreloadList.newline) ?? bytes.count
            let isAlone = (bytes[start..<word.lowerBound] + bytes[word.upperBound..<end]).allSatisfy(
                PreloadList.separates
            )
            let isLast = isAlone && end + 1 >= bytes.count
            bytes.removeSubrange(isAlone ? start..<min(end + 1, bytes.count) : word)
            if isLast, wasOpen, bytes.last == PreloadList.newline { bytes.removeLast() }
        }
        return isChanged
    }

    private static let newline: UInt8 = 0x0a

    private static func separates(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0a, 0x3a].contains(byte) }

    private var words: [Range<Int>] {
        var found: [Range<Int>] = []
        var start: Int?
        var isComment = false
        for (place, byte) in bytes.enumerated() {
            if byte == PreloadList.newline { isComment = false }
            if byte == 0x23 { isComment = true }
            let isWord = !isComment && !PreloadList.separates(byte)
            if isWord, start == nil { start = place }
            if !isWord, let first = start {
                found.append(first..<place)
                start = nil
            }
        }
        return start.map { found + [$0..<bytes.count] } ?? found
    }
}
