/// A point on CLOCK_MONOTONIC, in nanoseconds since boot (suspend not counted).
///
/// V4L2 buffers that carry `V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC` and ALSA streams set to monotonic time stamps use this
/// clock, so that sound and picture can be laid on one line.
public struct Timestamp: Hashable, Comparable, Sendable {
    /// Nanoseconds since boot.
    public var nanoseconds: Int64

    /// A timestamp of the given nanoseconds since boot.
    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// A timestamp from the seconds and microseconds of a `struct timeval`, as V4L2 writes them.
    public init(seconds: Int, microseconds: Int) {
        nanoseconds = Int64(seconds) * 1_000_000_000 + Int64(microseconds) * 1000
    }

    /// A timestamp from the seconds and nanoseconds of a `struct timespec`, as ALSA writes them.
    public init(seconds: Int, nanoseconds: Int) {
        self.nanoseconds = Int64(seconds) * 1_000_000_000 + Int64(nanoseconds)
    }

    /// Whether `left` lies earlier.
    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// The nanoseconds from `right` to `left`, negative if `left` is the earlier. The result is limited to the range
    /// of Int64, because a damaged ring may hold any timestamps.
    public static func - (left: Timestamp, right: Timestamp) -> Int64 {
        let (difference, isBeyond) = left.nanoseconds.subtractingReportingOverflow(right.nanoseconds)
        return isBeyond ? (left < right ? .min : .max) : difference
    }

    /// The timestamp that lies `nanoseconds` later, or the last there is.
    public func advanced(by nanoseconds: Int64) -> Timestamp {
        let (sum, isBeyond) = self.nanoseconds.addingReportingOverflow(nanoseconds)
        return Timestamp(nanoseconds: isBeyond ? (nanoseconds < 0 ? .min : .max) : sum)
    }
}
