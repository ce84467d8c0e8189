import CaptureCore
import CaptureSystem

/// How long an output may last by the monotonic clock, whatever its streams bring.
struct RecordingSchedule {
    /// What was asked for, in nanoseconds.
    let duration: Int64
    /// How long a picture may take to come here, in nanoseconds.
    private let delay: Int64

    /// - Returns: `nil` for an output without an end.
    init?(_ job: RecordingJob, _ video: VideoFormat?) {
        guard job.output.duration > 0 else { return nil }
        duration = job.output.duration
        delay = max(250_000_000, video?.interval.nanoseconds ?? 0)
    }

    /// When it ends that begins now, in nanoseconds.
    var end: Int64 { Timestamp.now.advanced(by: duration).advanced(by: delay).nanoseconds }
}
