import CaptureCore

/// The length in the head of a Matroska file, set while it is written, so that one that breaks off tells its length too.
///
/// libavformat leaves room for it in the segment's information, a `Void` element of 11 bytes, and fills it only in the
/// trailer. Element numbers: RFC 9559, sections 5.1.2 and 5.1.2.10. Thread-bound.
struct MatroskaDuration {
    private static let information: [UInt8] = [0x15, 0x49, 0xA9, 0x66]
    /// `Void`, whose length of nine stands in one byte, or of two in eight.
    private static let rooms: [[UInt8]] = [[0xEC, 0x89], [0xEC, 0x01, 0, 0, 0, 0, 0, 0, 2]]
    /// `Duration`, a float of eight bytes.
    private static let element: [UInt8] = [0x44, 0x89, 0x88]

    private let file: OutputFile
    private var head: [UInt8] = []
    private var place: Int64?
    private var isKnown = false

    /// Of a file that is about to be begun.
    init(_ file: OutputFile) {
        self.file = file
    }

    /// Looks at the bytes of the header, which come first.
    mutating func look(at bytes: UnsafeRawBufferPointer, position: Int64) {
        guard !isKnown, position == Int64(head.count) else { return }
        unsafe head.append(contentsOf: bytes)
    }

    /// The header is complete.
    mutating func headerEnded() {
        isKnown = true
        let header = head
        head = []
        guard let start = MatroskaDuration.find(MatroskaDuration.information, in: header[...]) else { return }
        let found = MatroskaDuration.rooms.compactMap { MatroskaDuration.find($0, in: header[start...]) }.min()
        place = found.map { Int64($0) }
    }

    /// Writes the length, in nanoseconds; Matroska counts milliseconds here.
    func set(_ length: Int64) throws(CaptureError) {
        guard let place, file.isSeekable else { return }
        let bits = (Double(length) / 1_000_000).bitPattern
        let number = (0..<8).map { UInt8(truncatingIfNeeded: bits >> (56 - 8 * $0)) }
        try file.overwrite(MatroskaDuration.element + number, at: place)
    }

    private static func find(_ pattern: [UInt8], in bytes: ArraySlice<UInt8>) -> Int? {
        bytes.indices.first { bytes[$0...].starts(with: pattern) }
    }
}
