/// A number of Matroska's: its first byte tells by its leading zeros how many follow.
package struct EBMLNumber {
    /// The number.
    package let value: UInt64
    /// How many bytes it takes.
    package let width: Int
    /// All its bits are set: a length that was not known when it was written.
    package let isUnknown: Bool

    /// Reads the number that some bytes begin with.
    ///
    /// - Parameter keepsMark: Whether the leading bit counts, as it does in the number of an element.
    package init?(_ bytes: ArraySlice<UInt8>, keepsMark: Bool) {
        guard let first = bytes.first, first != 0 else { return nil }
        width = first.leadingZeroBitCount + 1
        guard bytes.count >= width else { return nil }
        let all = bytes.prefix(width).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let mark = UInt64(1) << UInt64(7 * width)
        isUnknown = all & (mark - 1) == mark - 1
        value = keepsMark ? all : all & (mark - 1)
    }
}

/// The elements of Matroska that lie in some bytes of a file, one after the other.
package struct EBMLElements: Sequence, IteratorProtocol {
    /// An element.
    package struct Element {
        /// Its number, leading bit included, as RFC 9559 writes it.
        package let id: UInt64
        /// All of it.
        package let range: Range<Int>
        /// What is in it; up to the end where its length is not known.
        package let content: Range<Int>
    }

    private let bytes: [UInt8]
    private var rest: Range<Int>

    /// Those in a part of the bytes.
    package init(_ bytes: [UInt8], in range: Range<Int>? = nil) {
        self.bytes = bytes
        rest = range ?? bytes.indices
    }

    /// The next element; `nil` at the end, and where the bytes are not an element.
    package mutating func next() -> Element? {
        guard let id = EBMLNumber(bytes[rest], keepsMark: true),
            let size = EBMLNumber(bytes[rest].dropFirst(id.width), keepsMark: false)
        else { return nil }
        let (start, content) = (rest.lowerBound, rest.lowerBound + id.width + size.width)
        let end =
            size.isUnknown ? rest.upperBound : content + Int(clamping: Swift.min(size.value, UInt64(rest.upperBound)))
        guard content <= rest.upperBound, end <= rest.upperBound else { return nil }
        rest = end..<rest.upperBound
        return Element(id: id.value, range: start..<end, content: content..<end)
    }
}
