import CaptureCore

/// What a recorder makes: fed by one thread with the buffers of its streams.
///
/// Thread-bound to the writer's thread.
protocol MediaOutput: AnyObject {
    /// Whether nothing more is needed: there is the photo, or all that is before a limit.
    var isComplete: Bool { get }

    /// The limit that it has reached; `nil` for none. Other streams may still deliver media from before that point.
    var reachedLimit: RecordingLimit? { get }

    /// What a finished file lacks although it was asked for; `nil` for nothing.
    var shortfall: CaptureError? { get }

    /// Whether a buffer takes it little time but for the writing, so that the thread which reads the ring may feed it.
    var isQuick: Bool { get }

    /// Whether nothing can be written before a picture is there.
    var needsPicture: Bool { get }

    /// Whether it keeps what comes in memory until it is to begin.
    var isWaiting: Bool { get }

    /// Begins the file with what was captured before a time, as far back as it was to keep.
    func begin(at time: Timestamp) throws(CaptureError)

    /// Takes a picture, of a camera that was set for it by that time.
    func shoot(_ order: PictureOrder, at time: Timestamp)

    /// Takes a frame.
    func write(video buffer: MediaBuffer) throws(CaptureError)

    /// Takes a stretch of sound.
    func write(audio buffer: MediaBuffer) throws(CaptureError)

    /// Hears that nothing more will come of a kind, and how many buffers were lost since the last that came.
    func streamEnded(_ kind: MediaType, lost: UInt64) throws(CaptureError)

    /// Called when no buffer waits: writes what it gathered.
    func rest() throws(CaptureError)

    /// Called twice a second or so while nothing comes.
    func idle() throws(CaptureError)

    /// Ends the file properly.
    func finish() throws(CaptureError)

    /// After a fault: leaves what was written as playable as it can be. Never fails; what it cannot do stays undone.
    func salvage()
}

extension MediaOutput {
    func write(video buffer: MediaBuffer) throws(CaptureError) {}
    func write(audio buffer: MediaBuffer) throws(CaptureError) {}
    var shortfall: CaptureError? { nil }
    var reachedLimit: RecordingLimit? { nil }
    var isQuick: Bool { false }
    var needsPicture: Bool { false }
    var isWaiting: Bool { false }
    func begin(at time: Timestamp) throws(CaptureError) {}
    func shoot(_ order: PictureOrder, at time: Timestamp) {}
    func streamEnded(_ kind: MediaType, lost: UInt64) throws(CaptureError) {}
    func rest() throws(CaptureError) {}
    func idle() throws(CaptureError) {}
    func salvage() {}
}
