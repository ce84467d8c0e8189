public import CaptureCore
public import CaptureEngine
import Synchronization

/// Recorders without processes: each begins at once, and finishes or fails when told.
public final class FakeRecorders: RecorderLauncher {
    private let running = Mutex<[String: FakeRecorder]>([:])
    private let refusal = Mutex<CaptureError?>(nil)
    private let silent = Mutex<Set<String>>([])
    private let launches = AsyncStream<String>.makeStream()
    private let count = Atomic(0)
    private let hook = Mutex<(@Sendable () async -> Void)?>(nil)
    private let dismissals = AsyncStream<Void>.makeStream()

    /// Recorders that begin at once.
    public init() {}

    /// Makes the next launches fail; nil lets them be.
    public func refuse(_ error: CaptureError?) {
        refusal.withLock { $0 = error }
    }

    /// Lets the recorder of an output begin only when the test says so.
    public func hold(_ name: String) {
        silent.withLock { $0 = $0.union([name]) }
    }

    /// Waits until a recorder was launched.
    public func waitForLaunch(_ name: String) async {
        for await launched in launches.stream where launched == name { return }
    }

    /// The recorder of an output.
    public func recorder(_ name: String) -> FakeRecorder? {
        running.withLock { $0[name] }
    }

    /// How many recorders were started.
    public var started: Int { count.load(ordering: .relaxed) }

    /// Has something done before each recorder starts.
    public func beforeStart(_ body: @escaping @Sendable () async -> Void) { hook.withLock { $0 = body } }

    /// Waits until a recorder that got no job was dismissed.
    public func waitForDismissal() async {
        for await _ in dismissals.stream { return }
    }

    /// Starts a recorder, which fails when it gets its job if launches are made to.
    public func start() async throws(CaptureError) -> any IdleRecorder {
        count.add(1, ordering: .relaxed)
        await hook.withLock { $0 }?()
        return Waiting(self)
    }

    private final class Waiting: IdleRecorder {
        private let all: FakeRecorders

        init(_ all: FakeRecorders) {
            self.all = all
        }

        func take(_ job: RecordingJob, files: [any OpenFile], video: (any OpenFile)?, audio: (any OpenFile)?)
            async throws(CaptureError) -> any RecorderHandle
        {
            try all.launch(job)
        }

        func dismiss() { all.dismissals.continuation.yield() }
    }

    private func launch(_ job: RecordingJob) throws(CaptureError) -> FakeRecorder {
        if let error = refusal.withLock({ $0 }) { throw error }
        let recorder = FakeRecorder(job)
        running.withLock { $0[job.output.name] = recorder }
        if !silent.withLock({ $0.contains(job.output.name) }) { recorder.report(.ready(OutputStatistics())) }
        launches.continuation.yield(job.output.name)
        return recorder
    }
}

/// A recorder that does what the test says.
public final class FakeRecorder: RecorderHandle {
    /// What it was told to make.
    public let job: RecordingJob
    /// Nothing is known.
    public let end = ""
    /// What the test makes it report.
    public let reports: AsyncStream<RecorderReport>
    private let continuation: AsyncStream<RecorderReport>.Continuation
    private let stubborn = Atomic<Bool>(false)
    private let moved = Atomic<Int>(0)
    private let stops = AsyncStream<Void>.makeStream()

    /// Whether it does not hear that it is to finish.
    public var isStubborn: Bool {
        get { stubborn.load(ordering: .relaxed) }
        set { stubborn.store(newValue, ordering: .relaxed) }
    }

    init(_ job: RecordingJob) {
        self.job = job
        (reports, continuation) = AsyncStream.makeStream()
    }

    /// Reports something.
    public func report(_ report: RecorderReport) {
        continuation.yield(report)
    }

    /// How often it was handed another ring.
    public var moves: Int { moved.load(ordering: .relaxed) }

    /// Counts a ring that it was handed.
    public func move(_ media: MediaType, to ring: any OpenFile) {
        moved.add(1, ordering: .relaxed)
    }

    /// What it was told of pauses, in order.
    public var pauses: [Bool] { paused.withLock { $0 } }
    private let paused = Mutex<[Bool]>([])

    /// What it was told of its connections, in order: `video off`, `audio on`.
    public var switches: [String] { switched.withLock { $0 } }
    private let switched = Mutex<[String]>([])
    /// The titles of the markers that it was told of.
    public var markers: [String] { marked.withLock { $0 } }
    private let marked = Mutex<[String]>([])

    /// Notes it.
    public func setEnabled(_ isEnabled: Bool, _ kind: MediaType) {
        switched.withLock { $0.append("\(kind.rawValue) \(isEnabled ? "on" : "off")") }
    }

    /// Notes it among the switches: `gain 6.0`.
    public func setGain(_ gain: Double) { switched.withLock { $0.append("gain \(gain)") } }

    /// Notes it among the switches: `levels on`.
    public func watchLevels(_ isWatched: Bool) { switched.withLock { $0.append("levels \(isWatched ? "on" : "off")") } }

    /// Notes it.
    public func mark(_ marker: RecordingMarker) { marked.withLock { $0.append(marker.title) } }

    /// Notes it among the switches: `note` and the text.
    public func note(_ metadata: [TimedMetadata]) -> Bool {
        switched.withLock { $0 += metadata.map { "note \($0.text)" } }
        return true
    }

    /// Notes it among the switches: `begin`.
    public func begin(at time: Timestamp?) { switched.withLock { $0.append("begin") } }

    /// Notes it among the switches: `shoot -1000`, by the bias.
    public func shoot(_ order: PictureOrder) { switched.withLock { $0.append("shoot \(order.bias ?? 0)") } }

    /// Notes it among the switches: `cut`.
    public func cut() { switched.withLock { $0.append("cut") } }

    /// Notes it among the switches: `file 7`, by the number of what it stands for.
    public func add(_ file: any OpenFile) async throws(CaptureError) {
        switched.withLock { $0.append("file \(file.identity?.inode ?? 0)") }
        report(.file(refusal.withLock { $0 }))
    }

    /// Takes no files, for a reason.
    public func refuse(_ error: CaptureError?) { refusal.withLock { $0 = error } }
    private let refusal = Mutex<CaptureError?>(nil)

    /// Notes it.
    public func setPaused(_ isPaused: Bool) { paused.withLock { $0.append(isPaused) } }

    /// Ends as it was told to.
    public func stop() {
        stops.continuation.yield()
        if isStubborn { return }
        report(.finished(OutputStatistics()))
        continuation.finish()
    }

    /// Waits until it was told to end.
    public func waitForStop() async {
        for await _ in stops.stream { return }
    }

    /// Dies without a word.
    public func kill() {
        continuation.finish()
    }
}

/// Stands for a descriptor.
public final class FakeFile: OpenFile {
    /// No descriptor.
    public let descriptor: Int32 = -1
    /// The file that it stands for, if any.
    public let identity: FileIdentity?

    /// A file of nothing, or one that stands for the file of a number.
    public init(inode: UInt64? = nil) {
        identity = inode.map { FileIdentity(device: 1, inode: $0) }
    }
}

/// Rings that hold nothing.
public final class FakeRings: RingProvider {
    private let all = Mutex<[FakeRing]>([])
    private let refusal = Mutex<CaptureError?>(nil)

    /// Makes no more, for a reason.
    public func refuse(_ error: CaptureError) { refusal.withLock { $0 = error } }

    /// Rings of nothing.
    public init() {}

    /// Those that were made, in order.
    public var made: [FakeRing] { all.withLock { $0 } }

    /// A ring of nothing.
    public func makeRing(for source: any MediaSource, name: String, isMoved: Bool) throws(CaptureError)
        -> any MediaRing
    {
        if let error = refusal.withLock({ $0 }) { throw error }
        let ring = FakeRing()
        all.withLock { $0.append(ring) }
        return ring
    }
}

/// A ring that holds nothing, whose counters are set by the test.
public final class FakeRing: MediaRing, MediaSink {
    /// Itself.
    public var sink: any MediaSink { self }
    /// A file of nothing.
    public let file: any OpenFile = FakeFile()
    /// The file.
    public func handOut(isPatient: Bool) -> any OpenFile { file }
    /// None.
    public let slotCount = 0
    /// None.
    public let slotCapacity = 0
    /// Always.
    public let isAwaited = true
    private let counted = Mutex(RingCounters())
    private let look = Mutex<(@Sendable (inout RingCounters) -> Void)?>(nil)
    private let ended = Mutex<StreamEnd?>(nil)

    /// A ring whose counters stand at zero.
    public init() {}

    /// Changes the counters whenever somebody looks at them; `nil`: no more.
    public func whenLooked(_ change: (@Sendable (inout RingCounters) -> Void)?) { look.withLock { $0 = change } }

    /// As the test set them.
    public var counters: RingCounters {
        get {
            let change = look.withLock { $0 }
            return counted.withLock { counters in
                change?(&counters)
                return counters
            }
        }
        set { counted.withLock { $0 = newValue } }
    }

    /// No memory.
    public func memory(ofSlot slot: Int) -> UnsafeMutableRawBufferPointer {
        unsafe UnsafeMutableRawBufferPointer(start: nil, count: 0)
    }

    /// Nothing is free.
    public func claim() -> Int? { nil }
    /// Nothing to do.
    public func abandon(_ slot: Int) {}
    /// Nothing to do.
    public func publish(_ slot: Int, _ info: BufferInfo) {}
    /// Nothing to do.
    public func count(_ cause: DropCause, _ number: UInt64) {}
    /// Keeps the first reason.
    public func finish(_ reason: StreamEnd) { ended.withLock { $0 = $0 ?? reason } }
    /// As it was finished.
    public var end: StreamEnd? { ended.withLock { $0 } }
}

/// Follows the states of sessions, so that a test waits for one instead of sleeping.
public final class StateWatch: EngineObserver {
    private struct Wait {
        var id: UInt32
        var states: Set<SessionState>
        var continuation: CheckedContinuation<SessionSnapshot, Never>
    }

    private struct Seen {
        var latest: [UInt32: SessionSnapshot] = [:]
        var waits: [Wait] = []
        var moves = 0
        var saved: [String: SavedOutput] = [:]
        var levels: [(connections: Set<String>, levels: [AudioLevel])] = []
        var segments: [SegmentEvent] = []
        var outputs: Set<String> = []
        var faults: [String: CaptureError?] = [:]
        var outputWaits: [(String, CheckedContinuation<Void, Never>)] = []
    }

    private let seen = Mutex(Seen())

    /// A watch that has seen nothing.
    public init() {}

    /// Notes a session.
    public func sessionAdded(_ session: SessionSnapshot) { note(session) }
    /// Notes a state.
    public func sessionChanged(_ session: SessionSnapshot) { note(session) }
    /// Needs no note.
    public func sessionRemoved(_ id: UInt32) {}

    /// Notes an output that is done.
    public func outputFinished(
        _ session: SessionSnapshot,
        output: String,
        error: CaptureError?,
        statistics: OutputStatistics
    ) {
        let ready = seen.withLock { seen in
            seen.outputs.insert(output)
            seen.faults[output] = .some(error)
            defer { seen.outputWaits.removeAll { $0.0 == output } }
            return seen.outputWaits.filter { $0.0 == output }.map(\.1)
        }
        for wait in ready { wait.resume() }
    }

    /// Notes levels.
    public func outputLevels(_ id: UInt32, output: String, _ levels: [AudioLevel], to connections: Set<String>) {
        seen.withLock { $0.levels.append((connections, levels)) }
    }

    /// Notes it.
    public func outputSegment(_ session: SessionSnapshot, output: String, _ event: SegmentEvent) {
        seen.withLock { $0.segments.append(event) }
    }

    /// What was told of segments, in order.
    public var segments: [SegmentEvent] { seen.withLock { $0.segments } }

    /// The levels that were told, and whom.
    public var levels: [(connections: Set<String>, levels: [AudioLevel])] { seen.withLock { $0.levels } }

    /// Notes what was saved.
    public func outputSaved(_ session: SessionSnapshot, output: String, _ saved: SavedOutput, to connection: String) {
        seen.withLock { $0.saved[output] = saved }
    }

    /// What was wrong with the outputs that are done, by their names; `nil` for those that are complete.
    public var faults: [String: CaptureError?] { seen.withLock { $0.faults } }

    /// What was saved into the media library, by output.
    public var saved: [String: SavedOutput] { seen.withLock { $0.saved } }

    /// Notes a buffer that goes on elsewhere.
    public func bufferMoved(_ session: SessionSnapshot, output: String) {
        seen.withLock { $0.moves += 1 }
    }

    /// How often a buffer went on elsewhere.
    public var bufferMoves: Int { seen.withLock { $0.moves } }

    /// Waits until an output is done.
    public func waitForOutput(_ name: String) async {
        await withCheckedContinuation { continuation in
            let isDone = seen.withLock { seen in
                if seen.outputs.contains(name) { return true }
                seen.outputWaits.append((name, continuation))
                return false
            }
            if isDone { continuation.resume() }
        }
    }

    /// Waits until a session is in one of the states.
    public func wait(_ id: UInt32, for states: SessionState...) async -> SessionSnapshot {
        await withCheckedContinuation { continuation in
            let now = seen.withLock { seen -> SessionSnapshot? in
                if let session = seen.latest[id], states.contains(session.state) { return session }
                seen.waits.append(Wait(id: id, states: Set(states), continuation: continuation))
                return nil
            }
            if let now { continuation.resume(returning: now) }
        }
    }

    private func note(_ session: SessionSnapshot) {
        let ready = seen.withLock { seen -> [Wait] in
            seen.latest[session.id] = session
            let ready = seen.waits.filter { $0.id == session.id && $0.states.contains(session.state) }
            seen.waits.removeAll { $0.id == session.id && $0.states.contains(session.state) }
            return ready
        }
        for wait in ready { wait.continuation.resume(returning: session) }
    }
}
