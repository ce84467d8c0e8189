public import CaptureCore

/// The result of an output.
public struct OutputResult: Hashable, Sendable {
    /// The output's name.
    public var name: String
    /// Why it was not made, or not to the end; `nil` when it is complete.
    public var error: CaptureError?
    /// The figures of the data that was written.
    public var statistics: OutputStatistics
    /// The outcome in the media library, for an output that was saved there, and for the connection alone that asked for
    /// it; `nil` for any other connection, and for an output that is not there.
    public var saved: SavedOutput?
    /// The same for each picture of a burst.
    public var savedPictures: [SavedOutput] = []

    /// A result of the given parts.
    public init(name: String, error: CaptureError?, statistics: OutputStatistics, saved: SavedOutput? = nil) {
        self.name = name
        self.error = error
        self.statistics = statistics
        self.saved = saved
    }
}

/// Something that happened to a session.
public enum SessionEvent: Hashable, Sendable {
    /// It stands elsewhere now.
    case changed(SessionStatus)
    /// An output is at its end, or a photo that was taken with `PhotoOutput.capturePhoto`, whose name has a dot.
    case finished(OutputResult)
    /// A file of a movie in segments is begun, or complete.
    case segment(output: String, SegmentEvent)
    /// A buffer's stream goes on in other memory.
    case bufferMoved(output: String)
}
