import CaptureKit

/// How long after the bench camera's DQBUF a reader woke up, for each of its last frames.
struct Delays {
    /// Four seconds at 30 frames a second, so that starts don't count.
    private static let most = 120
    /// A larger value is no delay: frames of other cameras begin with pixels, not with a time.
    private static let longest: Int64 = 10_000_000_000

    private var nanoseconds: [Int64] = []
    private var next = 0

    init() { nanoseconds.reserveCapacity(Self.most) }

    /// The bench's camera writes into each raw frame when it was due and when it was dequeued.
    mutating func note(_ frame: UnsafeRawBufferPointer, awake: Timestamp) {
        guard frame.count >= 16 else { return }
        let dequeued = unsafe frame.loadUnaligned(fromByteOffset: 8, as: Int64.self)
        let (delay, isWrong) = awake.nanoseconds.subtractingReportingOverflow(dequeued)
        guard !isWrong, delay >= 0, delay < Self.longest else { return }
        if nanoseconds.count < Self.most { nanoseconds.append(delay) } else { nanoseconds[next] = delay }
        next = (next + 1) % Self.most
    }

    /// Of all readers' frames together, as members of a JSON object, in microseconds; null when nothing was noted.
    static func json(_ all: [Delays]) -> String {
        let sorted = all.flatMap(\.nanoseconds).sorted()
        let percentile = { (part: Double) in
            sorted.isEmpty ? "null" : "\(Double(sorted[Int((Double(sorted.count - 1) * part).rounded())]) / 1000)"
        }
        return "\"delays\": \(sorted.count), \"delayP50\": \(percentile(0.5)), \"delayP99\": \(percentile(0.99))"
    }
}
