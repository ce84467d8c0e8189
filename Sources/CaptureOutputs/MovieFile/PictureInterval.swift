import CaptureCore

/// How often a camera's pictures really come: the mean of the times between two, without those between which some were
/// lost. Thread-bound.
struct PictureInterval {
    private var last: Timestamp?
    private var sum: Int64 = 0
    private var count: Int64 = 0

    /// The mean, in nanoseconds; `nil` before the second picture.
    var nanoseconds: Int64? { count > 0 ? sum / count : nil }

    /// Takes the time of the next picture.
    mutating func note(_ time: Timestamp) {
        defer { last = time }
        guard let last, time > last else { return }
        let passed = time - last
        if let mean = nanoseconds {
            if passed > mean * 3 / 2 { return }
            // What counted until now were gaps.
            if mean > passed * 3 / 2 { (sum, count) = (0, 0) }
        }
        sum += passed
        count += 1
    }
}
