import CaptureCore

/// When an output is finished by itself.
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

    /// The limits of an output.
    init(_ output: OutputDescription) {
        duration = output.duration
        frameCount = output.frameCount
        fileSize = output.maxFileSize
        freeSpace = output.minFreeSpace
        expected = output.duration
        preRoll = output.preRoll
        if let rule = output.segments {
            segmentSize = rule.fileSize
            expected = [duration, rule.duration].filter { $0 > 0 }.min() ?? 0
        }
    }
}
