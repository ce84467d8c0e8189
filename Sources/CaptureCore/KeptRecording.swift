/// A recording that was to be saved into the library and is not there: the consent went while it was recorded, the disk was
/// full, or the daemon ended. It is kept for the person to decide about.
public struct KeptRecording: Hashable, Sendable, Identifiable {
    /// Its id: 32 hexadecimal digits.
    public var id = ""
    /// The id of the program that recorded it.
    public var program = ""
    /// When it was begun, in milliseconds since 1970.
    public var started: Int64 = 0
    /// Bytes.
    public var size: UInt64 = 0
    /// The name that it was to get; empty if the program gave no name.
    public var name = ""
    /// The device that it was taken with; empty if unknown.
    public var device = ""
    /// The name of the album that it was to join.
    public var album: String?
    /// Why it is not in the library, in a sentence.
    public var reason = ""

    /// A recording of which nothing is known.
    public init() {}
}

/// The outcome of saving a recording after all.
public struct KeptOutcome: Hashable, Sendable, Identifiable {
    /// The recording's id.
    public var id: KeptRecording.ID = ""
    /// Where it is now, or why it stays.
    public var result: Result<SavedOutput, CaptureError> = .success(SavedOutput())

    /// One of which nothing is known.
    public init() {}

    /// The outcome for a recording.
    public init(id: KeptRecording.ID, result: Result<SavedOutput, CaptureError>) {
        self.id = id
        self.result = result
    }
}
