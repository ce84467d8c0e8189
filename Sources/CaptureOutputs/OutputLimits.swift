/// When an output is finished by itself.
struct OutputLimits {
    /// Nanoseconds; 0 for no end.
    var duration: Int64
    /// Frames; 0 for no end.
    var frameCount: Int
}
