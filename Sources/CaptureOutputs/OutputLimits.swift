import CaptureCore

/// When an output is finished by itself, and how much it keeps until then.
struct OutputLimits {
    /// Nanoseconds; 0 for no end.
    var duration: Int64
    /// Frames; 0 for no end.
    var frameCount: Int
    /// Bytes that the file may have; 0 for no end.
    var fileSize: Int64
    /// Bytes that stay free on the file's disk; 0 for no end.
    var freeSpace: Int64

    /// Nanoseconds that the file is thought to last, even if nothing ends it then; 0 if that is not known.
    var expected: Int64
    /// What one file of a movie in segments is to have, in bytes, if there are any: 0 for any size. Nothing ends it.
    var segmentSize: Int64?

    /// Nanoseconds that are kept in memory until it is begun; 0 if it begins at once.
    var preRoll: Int64
    /// Bytes that this may take.
    var preRollBytes: Int64

    /// Nanoseconds after which what is written is brought into the file: what a crash may cost.
    var fragmentInterval: Int64

    /// The limits of a job's output.
    init(_ job: RecordingJob) {
        let output = job.output
        duration = output.duration
        frameCount = output.frameCount
        fileSize = output.maxFileSize
        freeSpace = output.minFreeSpace
        expected = output.duration
        preRoll = output.preRoll
        preRollBytes = job.preRollBytes
        fragmentInterval = output.fragmentInterval
        if let rule = output.segments {
            segmentSize = rule.fileSize
            expected = [duration, rule.duration].filter { $0 > 0 }.min() ?? 0
        }
    }
}
