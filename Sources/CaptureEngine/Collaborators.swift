public import Authorization
public import CaptureCore

/// Who finds and opens devices: the drivers in `captured`, a fake in tests.
public protocol DeviceProvider: Sendable {
    /// The devices that are there now.
    func devices() async -> [DeviceDescription]

    /// Opens and configures a camera, without streaming. May block for as long as the driver does.
    func openCamera(_ device: DeviceDescription, _ request: VideoFormatRequest, grant: Grant) async throws(CaptureError)
        -> any MediaSource

    /// Opens and configures a microphone, without streaming.
    func openMicrophone(_ device: DeviceDescription, _ request: AudioFormatRequest, grant: Grant)
        async throws(CaptureError) -> any MediaSource

    /// Opens the metadata of a camera's frames, without streaming.
    func openMetadata(_ camera: DeviceDescription, grant: Grant) async throws(CaptureError) -> any MediaSource

    /// A camera's settings now, which say how long it exposes; none when it does not tell them.
    func settings(of device: DeviceDescription, grant: Grant) async -> [DeviceControl]

    /// Starts a source, off the callers' executor.
    func start(
        _ source: any MediaSource,
        into sink: any MediaSink,
        ended: @escaping @Sendable (CaptureError) -> Void
    ) async throws(CaptureError)

    /// Lets a source go on into another sink, off the callers' executor: `MediaSource.move`.
    func move(_ source: any MediaSource, to sink: any MediaSink, atOnce: Bool) async throws(CaptureError)

    /// Stops a source, waits for its thread and closes the device, off the callers' executor.
    func close(_ source: any MediaSource) async
}

/// Who makes rings.
public protocol RingProvider: Sendable {
    /// A ring for what `source` delivers.
    ///
    /// - Parameter isMoved: Whether readers of another ring are to come, some of them late.
    func makeRing(for source: any MediaSource, name: String, isMoved: Bool) throws(CaptureError) -> any MediaRing
}

/// A ring as the engine handles it.
public protocol MediaRing: AnyObject, Sendable {
    /// Where the source writes.
    var sink: any MediaSink { get }
    /// Returns the file that a reader maps. Call it once for each reader: the ring counts them.
    ///
    /// - Parameter isPatient: Whether the reader may as well get several buffers at a time, as one does that writes a file.
    func handOut(isPatient: Bool) -> any OpenFile
    /// The counters now.
    var counters: RingCounters { get }
    /// What readers are told of why nothing more comes; `nil` while more may come.
    var end: StreamEnd? { get }
}

/// The counters of a ring since it was made.
public struct RingCounters: Hashable, Sendable {
    /// Frames or periods published.
    public var published: UInt64 = 0
    /// Losses, by `DropCause.rawValue`.
    public var drops = [UInt64](repeating: 0, count: DropCause.allCases.count)
    /// From the stamp of the latest buffer to its publication, in nanoseconds.
    public var latency: Int64 = 0
    /// Since the latest buffer was captured, in nanoseconds.
    public var age: Int64 = 0
    /// Slots published and not yet written again.
    public var queueDepth = 0

    /// Counters at zero.
    public init() {}
}

/// Who lends cameras to the engine, to be set for photos.
public protocol CameraLender: Sendable {
    /// Lends a camera's settings: until they are given back, nobody else changes them.
    ///
    /// - Parameter client: Who asks for the photos. It needs the consent that changing settings needs.
    /// - Throws: `notPermitted` without that consent, `busy` if another program has locked the settings or another photo
    ///   uses them, `deviceLost`.
    func lend(_ camera: DeviceDescription, to client: SessionClient) async throws(CaptureError) -> any BorrowedCamera
}

/// The settings of a camera, as they are set for photos. They are given back, once.
public protocol BorrowedCamera: AnyObject, Sendable {
    /// All settings as they are now.
    func controls() async throws(CaptureError) -> [DeviceControl]

    /// Writes settings in this order.
    ///
    /// - Returns: All of them, as the camera tells them after that.
    func set(_ changes: [CameraChange]) async throws(CaptureError) -> [DeviceControl]

    /// Puts back what was set, even if the consent has ended, and lets others set the camera again.
    func giveBack() async
}

/// A setting of a camera and the value that it gets.
public struct CameraChange: Hashable, Sendable {
    /// The control's name.
    public var name: String
    /// The value.
    public var value: Int64
}

/// Who starts recorder processes.
public protocol RecorderLauncher: Sendable {
    /// Starts a recorder, which waits for its job.
    func start() async throws(CaptureError) -> any IdleRecorder
}

/// A recorder process that has no job yet. It gets one or is dismissed, once.
public protocol IdleRecorder: AnyObject, Sendable {
    /// Hands it its job. After a failure it is gone.
    ///
    /// - Parameters:
    ///   - job: What to make.
    ///   - files: Where to: one file, or `fileCount` of the job.
    ///   - video: The picture's ring, if the job has one.
    ///   - audio: The sound's ring, if the job has one.
    /// - Returns: The recorder at work; that its file is begun is its first report.
    func take(_ job: RecordingJob, files: [any OpenFile], video: (any OpenFile)?, audio: (any OpenFile)?)
        async throws(CaptureError) -> any RecorderHandle
    /// Ends it.
    func dismiss()
}

/// A recorder process that was started.
public protocol RecorderHandle: AnyObject, Sendable {
    /// What it reports, in order; ends when the process is gone.
    var reports: AsyncStream<RecorderReport> { get }
    /// How the process ended and where to look, when its reports have ended: a part of a sentence, empty if nothing is known.
    var end: String { get }
    /// Hands it the ring in which the picture or the sound goes on, when the present one says that it does.
    func move(_ media: MediaType, to ring: any OpenFile)
    /// Tells it to leave out what is captured from now on, or to take it again.
    func setPaused(_ isPaused: Bool)
    /// Tells it to begin a chapter.
    func mark(_ marker: RecordingMarker)
    /// Tells it metadata for its movie: all or, if it has not read what it was told before, none.
    ///
    /// - Returns: Whether it was told.
    func note(_ metadata: [TimedMetadata]) -> Bool
    /// Tells it to begin its movie, with what it kept before a time; `nil` for now.
    func begin(at time: Timestamp?)
    /// Tells it to take its next picture, of a camera that was set for it.
    func shoot(_ order: PictureOrder)
    /// Tells it to go on in the next file of its movie with what is captured from now on.
    func cut()
    /// Hands it a file for later.
    ///
    /// - Throws: Why it did not get there. The recorder goes on without it.
    func add(_ file: any OpenFile) async throws(CaptureError)
    /// Tells it to take what is captured of a kind from now on, or to leave it out.
    func setEnabled(_ isEnabled: Bool, _ kind: MediaType)
    /// Tells it to make sound louder by so many decibels.
    func setGain(_ gain: Double)
    /// Tells it to report the levels of sound twenty times a second, or no more.
    func watchLevels(_ isWatched: Bool)
    /// Tells it to finish its file at what is published now.
    func stop()
    /// Ends it at once, because it does not answer.
    func kill()
}

/// Who has the media libraries that outputs are saved into: the daemon, a fake in tests.
public protocol RecordingSaver: Sendable {
    /// Refuses a name that the library does not take. Asks nobody.
    func check(_ destination: LibraryDestination) throws(CaptureError)

    /// Makes sure that a program may save into its user's library.
    ///
    /// - Parameter mayAsk: Whether the person is asked for what was never decided.
    /// - Throws: Why it may not.
    func authorize(_ client: SessionClient, mayAsk: Bool) async throws(CaptureError)

    /// Begins a recording, for a program that may save. Asks nobody.
    ///
    /// - Parameter device: What it is made with, in words.
    /// - Returns: The file that its recorder writes, which nobody else may hold, and what becomes of it.
    func begin(
        _ output: OutputDescription,
        madeWith device: String,
        for client: SessionClient
    ) async throws(CaptureError) -> (file: any OpenFile, recording: any LibraryRecording)
}

/// What is recorded into the library. It is saved or cancelled, once.
public protocol LibraryRecording: AnyObject, Sendable {
    /// Bytes at which it is ended, since the library would not take more.
    var room: Int64 { get }

    /// Takes it into the library, when its recorder is gone.
    ///
    /// - Throws: Why it is not there. It is kept for the person then, which the error says.
    func save() async throws(CaptureError) -> SavedOutput

    /// Gives it up, because its session never began.
    func cancel() async
}

/// Who hears of what happens: the bus and the journal.
public protocol EngineObserver: Sendable {
    /// A session was made.
    func sessionAdded(_ session: SessionSnapshot)
    /// A session's state or description changed.
    func sessionChanged(_ session: SessionSnapshot)
    /// A session is forgotten.
    func sessionRemoved(_ id: UInt32)
    /// A buffer output goes on in another ring.
    func bufferMoved(_ session: SessionSnapshot, output: String)
    /// A file of a movie in segments is begun, or complete.
    func outputSegment(_ session: SessionSnapshot, output: String, _ event: SegmentEvent)
    /// An output is in the media library; that it is done comes next. For the connection alone that asked for it.
    func outputSaved(_ session: SessionSnapshot, output: String, _ saved: SavedOutput, to connection: String)
    /// How loud an output's channels are now, for the connections that asked for it.
    func outputLevels(_ id: UInt32, output: String, _ levels: [AudioLevel], to connections: Set<String>)
    /// An output is done, `error` being nil when it is complete.
    func outputFinished(_ session: SessionSnapshot, output: String, error: CaptureError?, statistics: OutputStatistics)
}

/// Who calls: an identified program on one bus connection.
public struct SessionClient: Sendable {
    /// The program.
    public var identity: ClientIdentity
    /// The bridge that it captures through; `nil` for none.
    private let bridge: ClientIdentity?
    /// Who has the connection: the program itself, or its bridge.
    public var caller: ClientIdentity { bridge ?? identity }
    /// The connection's unique name; empty for a caller of the control socket, which has no bus connection.
    public var connection: String
    /// Identifies the same connection anew; any difference refuses.
    public var identifyAgain: @Sendable () async throws(CaptureError) -> ClientIdentity
    /// The question that a session is for, which stands in the place of consent; `nil` for one on the client's own.
    public var taking: Taking?
    /// The same for a start of capturing, which takes longer: refuses, too, who no longer has the connection alone.
    public var identifyAtStart: @Sendable () async throws(CaptureError) -> ClientIdentity

    /// A caller of the given identity, identified at a start as at any other time unless that is given.
    ///
    /// - Parameter bridge: The one that it captures through; `nil` for none.
    public init(
        identity: ClientIdentity,
        through bridge: ClientIdentity? = nil,
        connection: String,
        identifyAtStart: (@Sendable () async throws(CaptureError) -> ClientIdentity)? = nil,
        identifyAgain: @escaping @Sendable () async throws(CaptureError) -> ClientIdentity
    ) {
        self.identity = identity
        self.bridge = bridge
        self.connection = connection
        self.identifyAgain = identifyAgain
        self.identifyAtStart = identifyAtStart ?? identifyAgain
    }

    /// The client as the gate takes it.
    public var requester: Requester { Requester(client: identity, session: connection, again: identifyAgain) }

    /// Whether the daemon can call the client over the bus.
    public var isOnBus: Bool { !connection.isEmpty }

    /// Once more at the start, as at the answer: the connection must still be the program that was allowed, and no other
    /// have got it since its first call.
    func confirmIdentity() async throws(CaptureError) {
        let now = try await identifyAtStart()
        guard identity.isUnchanged(in: now) else {
            throw CaptureError(.notPermitted, "the program behind the connection changed; nothing was started")
        }
    }

    /// The program that captures: the one that gets what its person takes, or the client itself.
    var capturer: ClientIdentity { taking?.client ?? identity }

    func mayControl(_ owner: ClientIdentity) -> Bool { identity.mayControl(owner.program, of: owner.user) }
}

extension ClientIdentity {
    /// Whether it may see and stop what belongs to a program: that program's user and root may, but who is in a sandbox
    /// only what is its own.
    public func mayControl(_ program: String, of user: UInt32) -> Bool {
        if self.user == 0 { return true }
        guard self.user == user else { return false }
        return tier != .sandboxed || self.program == program
    }
}

/// A session as others see it.
public struct SessionSnapshot: Hashable, Sendable {
    /// The number by which it is named, from 1.
    public var id: UInt32
    /// Where it stands.
    public var state: SessionState
    /// Why it stands there: nil for as asked.
    public var reason: CaptureError?
    /// The program that made it.
    public var program: String
    /// The user of that program.
    public var user: UInt32
    /// The unique name of the connection that made it, which may have left the bus since.
    public var connection: String
    /// What it consists of.
    public var description: SessionDescription
}
