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

    /// The limits of an output.
    init(_ output: OutputDescription) {
        duration = output.duration
        frameCount = output.frameCount
        fileSize = output.maxFileSize
        freeSpace = output.minFreeSpace
    }
}
