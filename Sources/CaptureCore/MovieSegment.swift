/// When a movie goes on in another file: after a duration, a size, or both, whichever comes first. Without either, only
/// when a program asks for it.
///
/// A cut lies before a picture, so that each file is a movie of its own. No picture is missing at it and none is in both
/// files, and sound is cut to the sample.
public struct SegmentRule: Hashable, Sendable {
    /// Nanoseconds of one file; 0 for no such cut.
    public var duration: Int64
    /// Bytes that one file should not exceed; 0 for no such cut.
    public var fileSize: Int64
    /// Whether the duration counts from midnight by the clock on the wall: with 10 minutes, cuts are at 14:00, 14:10 and so
    /// on.
    public var isAligned: Bool

    /// The durations that can be asked for: 100 ms to a year.
    public static let durations: ClosedRange<Int64> = 100_000_000...31_536_000_000_000_000
    /// The durations by the clock on the wall: a second to a day.
    public static let alignedDurations: ClosedRange<Int64> = 1_000_000_000...86_400_000_000_000
    /// The sizes that can be asked for.
    public static let fileSizes: ClosedRange<Int64> = OutputDescription.leastMaxFileSize...1 << 62
    /// How many files may wait for their turn.
    public static let mostFiles = 8

    /// A rule of the given parts, in nanoseconds and bytes.
    public init(duration: Int64 = 0, fileSize: Int64 = 0, isAligned: Bool = false) {
        self.duration = duration
        self.fileSize = fileSize
        self.isAligned = isAligned
    }

    /// Files of a duration each.
    ///
    /// - Parameter isAligned: Whether it counts from midnight.
    public init(every duration: Duration, isAligned: Bool = false) {
        self.init(duration: duration.nanoseconds, isAligned: isAligned)
    }

    /// Refuses what cannot be.
    ///
    /// - Throws: `CaptureError.Code.invalidArgument` for a value that is out of range.
    public func check() throws(CaptureError) {
        let range = isAligned ? Self.alignedDurations : Self.durations
        guard duration == 0 && !isAligned || range.contains(duration) else {
            throw CaptureError(
                .invalidArgument,
                "segments of \(Self.seconds(duration)) s\(isAligned ? " by the clock" : "") are out of range: "
                    + "\(Self.seconds(range.lowerBound)) to \(Self.seconds(range.upperBound))"
            )
        }
        guard fileSize == 0 || Self.fileSizes.contains(fileSize) else {
            throw CaptureError(
                .invalidArgument,
                "segments of \(fileSize) bytes are out of range: at least \(Self.fileSizes.lowerBound)"
            )
        }
    }

    private static func seconds(_ nanoseconds: Int64) -> String {
        let (whole, part) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return part == 0 ? "\(whole)" : "\(Double(nanoseconds) / 1e9)"
    }
}

extension SegmentRule {
    /// As a recorder's job has it.
    var text: String { "\(duration) \(fileSize) \(isAligned ? 1 : 0)" }

    init?(text: String) {
        let numbers = text.split(separator: " ").compactMap { Int64($0) }
        guard numbers.count == 3, numbers.allSatisfy({ $0 >= 0 }) else { return nil }
        self.init(duration: numbers[0], fileSize: numbers[1], isAligned: numbers[2] == 1)
    }
}

/// One file of a movie in segments, when nothing more comes into it.
public struct MovieSegment: Hashable, Sendable {
    /// Its number in the movie, from 1.
    public var number: UInt32
    /// When its first picture was captured, in nanoseconds since 1970.
    public var time: Int64
    /// Nanoseconds that it lasts.
    public var duration: Int64
    /// Its pictures.
    public var frames: UInt64
    /// Its size in bytes.
    public var bytes: UInt64
    /// Whether it was finished. A file that could not be, for example on a full disk, can be played as far as it goes.
    public var isComplete: Bool

    /// A segment of the given figures.
    public init(
        number: UInt32,
        time: Int64,
        duration: Int64,
        frames: UInt64,
        bytes: UInt64,
        isComplete: Bool = true
    ) {
        self.number = number
        self.time = time
        self.duration = duration
        self.frames = frames
        self.bytes = bytes
        self.isComplete = isComplete
    }
}

/// A change of the files of a movie in segments.
public enum SegmentEvent: Hashable, Sendable {
    /// One is begun, by its number from 1: its first picture came.
    case began(UInt32)
    /// Nothing more comes into one.
    case finished(MovieSegment)
}

extension MovieSegment {
    var pairs: [(String, String)] {
        [
            ("number", "\(number)"), ("time", "\(time)"), ("duration", "\(duration)"), ("frames", "\(frames)"),
            ("bytes", "\(bytes)"), ("complete", isComplete ? "1" : "0"),
        ]
    }

    init(_ words: inout MessageWords) throws(CaptureError) {
        number = try words.number("number", in: UInt32(1)...)
        time = try words.number("time", in: Int64(0)...)
        duration = try words.number("duration", in: 0...1 << 62)
        frames = try words.number("frames", in: 0...1 << 62)
        bytes = try words.number("bytes", in: 0...1 << 62)
        isComplete = try words.number("complete", in: 0...1) == 1
    }
}
