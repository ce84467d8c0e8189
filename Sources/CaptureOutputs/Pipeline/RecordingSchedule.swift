import CaptureCore
import CaptureSystem
import Synchronization

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

/// When an output is finished by the monotonic clock without its pauses, whatever its streams bring. Thread-safe.
final class RecordingDeadline: Sendable {
    /// Nanoseconds that another stream has to come to the end of one that ran into a limit.
    private static let patience: Int64 = 1_000_000_000

    private let end = Atomic(Int64.max)
    private let passed = Atomic(false)

    /// Whether it ended the output.
    var hasPassed: Bool { passed.load(ordering: .acquiring) }

    /// Sets the time, in nanoseconds.
    func set(_ time: Int64) { end.store(time, ordering: .releasing) }

    /// The output ran into a limit: it goes on no longer than its streams need to come to the same place.
    func bringForward(_ pauses: PauseClock) {
        let soon = Timestamp.now.advanced(by: RecordingDeadline.patience).nanoseconds - pauses.length(until: .now)
        if soon < end.load(ordering: .acquiring) { set(soon) }
    }

    /// Whether it is past.
    ///
    /// - Parameter isStopped: Whether somebody else ended the output before.
    func isPast(_ pauses: PauseClock, unless isStopped: Bool) -> Bool {
        let now = Timestamp.now.nanoseconds - pauses.length(until: .now)
        guard now >= end.load(ordering: .acquiring) else { return false }
        if !isStopped { passed.store(true, ordering: .releasing) }
        return true
    }
}

/// How much a recorder reads, and how long it waits.
extension Recorder {
    /// How many frames may wait for a slow encoder: 64 MiB of them, taken when they do.
    ///
    /// An encoder's code is read from the disk with its first frames, which can take seconds on a small machine.
    static func depth(of frame: Int) -> Int {
        min(max((64 << 20) / max(frame, 1), 8), 256)
    }

    /// How many buffers the sound of a pre-roll comes in, with what is kept beside it.
    static func buffers(ofPreRoll job: RecordingJob, _ format: MediaFormat) -> Int {
        let preRoll = job.output.preRoll
        guard preRoll > 0, case .audio(let audio) = format, audio.periodFrames > 0 else { return 0 }
        let length = preRoll + ContainerOutput.stale + 2 * ContainerOutput.patience
        let periods = Double(length) / 1e9 * Double(audio.sampleRate) / Double(audio.periodFrames)
        // Some more: the oldest are let go in groups.
        let most = Int(clamping: job.preRollBytes) / max(audio.periodBytes, 1) + 256
        return min(Int(min(periods, 1e6)) + 256, most)
    }

    /// How many frames an output takes; `.max` when that is not known.
    static func frames(of job: RecordingJob) -> Int {
        let output = job.output
        if output.kind == .photo { return job.isOrdered ? .max : job.pictureCount }
        return output.frameCount > 0 ? Int(clamping: output.frameCount) : .max
    }

    /// How long nothing usable may come, in nanoseconds.
    static func silenceLimit(_ job: RecordingJob, _ video: VideoFormat?) -> Int64 {
        // A driver may claim an interval of a century.
        max(job.silenceLimit, 3 * min(video?.interval.nanoseconds ?? 0, 3_600_000_000_000))
    }
}
