import Authorization
import CaptureCore

/// A session in the engine; touched by the engine's actor alone.
final class Session {
    let id: UInt32
    let client: SessionClient
    var description: SessionDescription
    var files: [String: any OpenFile]
    var state = SessionState.configured
    var reason: CaptureError?
    /// Why its start failed; `nil` if it did not.
    var refusal: CaptureError?
    /// Why its devices stand still although it runs; `nil` if they do not.
    var pause: CaptureError?
    /// Why one of its inputs delivers nothing for a while; `nil` if none is interrupted.
    var interruption: CaptureError?
    /// Why nothing comes although it runs.
    var standstill: CaptureError? { pause ?? interruption }
    /// By input name.
    var inputs: [String: LiveInput] = [:]
    /// How long inputs that are recorded have delivered nothing usable, by name.
    var silences: [String: Silence] = [:]
    /// The rings that its client was given to map, the latest of each device.
    var shown: [DeviceID: any MediaRing] = [:]
    /// By output name; an output stays here when it is done, for its counters.
    var outputs: [String: LiveOutput] = [:]
    var grants: [Service: Grant] = [:]
    /// What the history has of it, by input name, until it ends.
    var uses: [String: DeviceUseKey] = [:]
    var startedAt: ContinuousClock.Instant?
    /// The first fault of an output while others went on: the session's reason in the end.
    var firstFault: CaptureError?
    /// The end under way, so that a session is ended once.
    var ending: Task<Void, Never>?
    /// The interruption under way, likewise.
    var suspending: Task<Void, Never>?
    /// Whether nothing more is to be had of it, or not before it goes on.
    var isEnding: Bool { ending != nil || suspending != nil }
    /// Whether what interrupts it may be over since it was looked at last.
    var looksAgain = false
    /// What its inputs had counted when it was interrupted, by name.
    var before: [String: InputStatistics] = [:]
    /// Whether its client has left, and nobody reads its buffers any more.
    var isAbandoned = false
    /// Its changes, which run one after the other.
    var changes = ChangeQueue()
    /// Whether it may deliver anything.
    var delivery = Delivery()
    /// The start under way, or the resumption; whoever ends the session waits for it first.
    var starting: Task<Void, Never>?

    init(id: UInt32, client: SessionClient, description: SessionDescription, files: [String: any OpenFile]) {
        self.id = id
        self.client = client
        self.description = description
        self.files = files
    }

    var snapshot: SessionSnapshot {
        let isPaused = state == .running && standstill != nil
        return SessionSnapshot(
            id: id,
            state: isPaused ? .suspended : state,
            reason: isPaused ? standstill : reason,
            program: client.identity.program,
            user: client.identity.user,
            connection: client.connection,
            description: description
        )
    }

    /// The counters as they stood when the session ended.
    var finalStatistics: SessionStatistics?

    var statistics: SessionStatistics {
        if let finalStatistics { return finalStatistics }
        var all = SessionStatistics()
        if let startedAt {
            let (seconds, attoseconds) = startedAt.duration(to: .now).components
            all.elapsed = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        }
        all.inputs = before.merging(inputs.mapValues(\.statistics)) { $1.following($0) }
        all.outputs = outputs.mapValues(\.statistics)
        return all
    }
}

/// Whether a session may deliver anything, and who waits for the end of that.
struct Delivery {
    private enum State {
        case possible(waiting: [CheckedContinuation<Void, Never>])
        case over
    }

    private var state = State.possible(waiting: [])

    /// Allows delivery from now on.
    mutating func begin() {
        if case .over = state { state = .possible(waiting: []) }
    }

    /// Ends delivery: the session's devices are released, and it has left the rings that its client maps.
    mutating func end() {
        guard case .possible(let waiting) = state else { return }
        state = .over
        for one in waiting { one.resume() }
    }

    /// Resumes a continuation when nothing is delivered any more.
    mutating func whenOver(_ continuation: CheckedContinuation<Void, Never>) {
        guard case .possible(let waiting) = state else { return continuation.resume() }
        state = .possible(waiting: waiting + [continuation])
    }
}

/// An input whose device is open, and where its counters stood when the session joined.
struct LiveInput {
    let shared: SharedSource
    let baseline: RingCounters
    /// The ring that was there already if other sessions used the device stream before. It holds older frames, or gets
    /// one that was already on its way.
    private(set) weak var older: (any MediaRing)?
    private let copiedBefore: UInt64

    init(_ shared: SharedSource) {
        self.shared = shared
        baseline = shared.counters
        older = baseline.published > 0 ? shared.ring : nil
        copiedBefore = shared.source.copiedBytes ?? 0
    }

    var statistics: InputStatistics {
        let now = shared.counters
        var counters = InputStatistics()
        counters.device = shared.device.id.rawValue
        switch shared.source.format {
        case .video(let format): counters.format = "\(format)"
        case .audio(let format): counters.format = "\(format)"
        }
        counters.published = now.published - baseline.published
        for cause in DropCause.allCases {
            let lost = now.drops[cause.rawValue] - baseline.drops[cause.rawValue]
            if lost > 0 { counters.drops[cause.name] = lost }
        }
        counters.latency = now.latency
        counters.queueDepth = now.queueDepth
        counters.copiedBytes = shared.source.copiedBytes.map { $0 - copiedBefore }
        return counters
    }
}

/// An output of a running session: a recorder at work, or a ring that its client maps.
final class LiveOutput {
    let description: OutputDescription
    /// nil for a buffer.
    let recorder: (any RecorderHandle)?
    /// The file that the recorder writes, where nobody else may.
    let file: FileIdentity?
    /// What it reads.
    var feeds: [SharedSource]
    /// The rings that its recorder was handed last.
    var given: [MediaType: any MediaRing] = [:]
    var statistics = OutputStatistics()
    var isDone = false
    var error: CaptureError?
    /// What it is in the media library, if it is saved there.
    let recording: (any LibraryRecording)?
    /// The unique name of the connection that asked for it.
    let connection: String
    /// What its recorder said of its end: `nil` as long as it has not, else the fault, if any.
    var report: CaptureError??
    /// Whether it was ended because the library takes no more of it.
    var isFull = false
    /// Whether its recorder is gone.
    var isGone = false
    /// Whether it is being saved: nothing more comes of what feeds it.
    var isSaving = false
    /// Waits for the first report.
    var whenReady: CheckedContinuation<CaptureError?, Never>?
    var isReady = false
    /// Wait for the last report.
    var whenDone: [CheckedContinuation<Void, Never>] = []

    init(
        _ description: OutputDescription,
        recorder: (any RecorderHandle)?,
        file: FileIdentity? = nil,
        recording: (any LibraryRecording)? = nil,
        for connection: String = "",
        feeds: [SharedSource]
    ) {
        self.description = description
        self.recorder = recorder
        self.file = file
        self.recording = recording
        self.connection = connection
        self.feeds = feeds
    }
}
