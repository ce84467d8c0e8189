/// The limit at which a recording was finished by itself.
public enum RecordingLimit: String, Hashable, Sendable, CaseIterable {
    /// Its greatest duration.
    case duration
    /// Its greatest number of frames.
    case frameCount = "frame-count"
    /// The file's greatest size.
    case fileSize = "file-size"
    /// The least free space on the file's disk.
    case freeSpace = "free-space"
}
