/// The limit at which a recording was finished by itself.
public enum RecordingLimit: String, Hashable, Sendable, CaseIterable {
    /// It lasts as long as it may.
    case duration
    /// It has as many frames as it may.
    case frameCount = "frame-count"
    /// More would make the file larger than it may be.
    case fileSize = "file-size"
    /// More would leave less free space on the file's disk than shall stay.
    case freeSpace = "free-space"
}
