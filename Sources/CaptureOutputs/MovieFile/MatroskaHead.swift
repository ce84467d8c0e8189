import CaptureCore
import MediaExamination

/// What the head of a Matroska file says and only its end knows: its length, and how often pictures come. Set while the
/// file is written, so that one that breaks off tells it too.
///
/// libavformat leaves room for the length in the segment's information, a `Void` element of 11 bytes, and fills it only in
/// the trailer; the pictures' interval it takes from the camera's nominal rate. Element numbers: RFC 9559, sections
/// 5.1.2, 5.1.2.10 and 5.1.4.1.13. Thread-bound.
struct MatroskaHead {
    /// The shortest interval, in nanoseconds, that libavformat writes in as many bytes as any longer one has.
    static let placeholder: Int64 = 1 << 24
    private static let segment: UInt64 = 0x1853_8067
    private static let information: UInt64 = 0x1549_A966
    private static let tracks: UInt64 = 0x1654_AE6B
    private static let track: UInt64 = 0xAE
    private static let void: UInt64 = 0xEC
    /// `Duration`, a float of eight bytes.
    private static let duration: [UInt8] = [0x44, 0x89, 0x88]
    /// `DefaultDuration`, a number of four bytes.
    private static let interval: [UInt8] = [0x23, 0xE3, 0x83, 0x84]

    private let file: RecorderFile
    private var head: [UInt8] = []
    private var durationPlace: Int64?
    private var intervalPlace: Int64?
    private var isKnown = false

    /// Of a file that is about to be begun, and can be gone back in.
    init(_ file: RecorderFile) {
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
        // Element by element: titles and numbers may hold any bytes.
        guard let segment = EBMLElements(header).first(where: { $0.id == MatroskaHead.segment }) else { return }
        for part in EBMLElements(header, in: segment.content) {
            if part.id == MatroskaHead.information {
                let room = EBMLElements(header, in: part.content).first {
                    $0.id == MatroskaHead.void && $0.range.count == MatroskaHead.duration.count + 8
                }
                durationPlace = room.map { Int64($0.range.lowerBound) }
            } else if part.id == MatroskaHead.tracks {
                let tracks = EBMLElements(header, in: part.content).filter { $0.id == MatroskaHead.track }
                let found = tracks.lazy.flatMap { EBMLElements(header, in: $0.content) }.first {
                    header[$0.range].starts(with: MatroskaHead.interval)
                }
                intervalPlace = found.map { Int64($0.range.lowerBound) }
            }
        }
    }

    /// Writes the length, in nanoseconds; Matroska counts milliseconds here.
    func set(length: Int64) throws(CaptureError) {
        guard let durationPlace, length > 0 else { return }
        let bits = (Double(length) / 1_000_000).bitPattern
        let number = (0..<8).map { UInt8(truncatingIfNeeded: bits >> (56 - 8 * $0)) }
        try file.overwrite(MatroskaHead.duration + number, at: durationPlace)
    }

    /// Writes how long a picture lasts, in nanoseconds.
    func set(interval: Int64) throws(CaptureError) {
        guard let intervalPlace, let value = UInt32(exactly: interval), value > 0 else { return }
        let number = (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
        try file.overwrite(MatroskaHead.interval + number, at: intervalPlace)
    }
}
