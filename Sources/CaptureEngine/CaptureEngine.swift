public import Authorization
public import CaptureCore
import Logging

/// The sessions of a machine: who captures what into which outputs, and in which state that is.
///
/// An actor for the control plane alone: no frame and no sample passes through it. Everything a session needs from
/// outside (devices, rings, recorders, consent) comes through the protocols in `Collaborators.swift`.
public actor CaptureEngine {
    let gate: AuthorizationGate
    let rings: any RingProvider
    let recorders: any RecorderLauncher
    let observer: any EngineObserver
    let provider: any DeviceProvider
    let history: HistoryKeeper
    /// Who saves outputs into the media library; `nil` where there is none, and outputs that ask for it are refused.
    let saver: (any RecordingSaver)?
    /// How long a recorder may take to begin and to finish its file.
    let patience: RecorderPatience
    var sessions: [UInt32: Session] = [:]
    private var lastID: UInt32 = 0
    private var lastChange: UInt64 = 0
    var isShuttingDown = false
    /// Why devices stand still; `nil` while they do not.
    var pause: CaptureError?
    /// How long a device may deliver nothing usable to a recording, or three frames if they take longer.
    var silenceLimit = Duration.seconds(5)
    var pace = EncoderPace()
    /// When it was looked last whether devices deliver.
    var lastLook = SuspendingClock.now
    private var madePool: SourcePool?

    /// How many sessions that are over stay listed.
    static let remembered = 64
    /// How many sessions of one user may exist at a time.
    static let mostSessions = 256

    /// An engine of the given parts; without a saver it has no media library, and refuses outputs that ask for one.
    public init(
        devices: any DeviceProvider,
        rings: any RingProvider,
        recorders: any RecorderLauncher,
        gate: AuthorizationGate,
        observer: any EngineObserver,
        history: HistoryKeeper,
        saver: (any RecordingSaver)? = nil,
        patience: RecorderPatience = RecorderPatience()
    ) {
        provider = devices
        self.rings = rings
        self.recorders = recorders
        self.gate = gate
        self.observer = observer
        self.history = history
        self.saver = saver
        self.patience = patience
        gate.enforced(by: self)
    }

    var pool: SourcePool {
        if let madePool { return madePool }
        let pool = SourcePool(
            devices: provider,
            rings: rings,
            lost: { [weak self] users, error in await self?.deviceEnded(users, error) },
            moved: { [weak self] shared, users in await self?.handOver(shared, to: users) }
        )
        madePool = pool
        return pool
    }

    /// Makes a session; nothing is opened and nobody is asked yet.
    ///
    /// - Parameters:
    ///   - description: Inputs, outputs and connections.
    ///   - files: For each output that writes one, the file that the client opened.
    /// - Returns: The session's number.
    /// - Throws: `.invalidArgument` for a description that cannot be or a file that another output writes, `.noSuchDevice`
    ///   for a device that is not there.
    public func create(_ description: SessionDescription, files: [String: any OpenFile], client: SessionClient)
        async throws(CaptureError) -> UInt32
    {
        if isShuttingDown { throw CaptureError(.unreachable, "captured is shutting down") }
        try description.validate(files: Set(files.keys))
        try checkSaving(description)
        for input in description.inputs { _ = try await pool.resolve(input) }
        // A shutdown that began meanwhile ends only the sessions that existed then.
        if isShuttingDown { throw CaptureError(.unreachable, "captured is shutting down") }
        forgetOldest()
        let user = client.identity.user
        guard sessions.values.count(where: { !$0.state.isFinal && $0.client.identity.user == user }) < Self.mostSessions
        else { throw CaptureError(.busy, "a user may have \(Self.mostSessions) sessions at a time; stop some first") }
        try refuseShared(files, beside: [:], of: nil, for: client)
        lastID += 1
        let session = Session(id: lastID, client: client, description: description, files: files)
        session.pause = pause
        sessions[lastID] = session
        observer.sessionAdded(session.snapshot)
        return session.id
    }

    /// The sessions that the caller may see, the oldest first.
    public func list(for client: SessionClient) -> [SessionSnapshot] {
        sessions.values.filter { client.mayControl($0.client.identity) }.map(\.snapshot).sorted { $0.id < $1.id }
    }

    /// The counters of a session.
    public func statistics(of id: UInt32, client: SessionClient) throws(CaptureError) -> SessionStatistics {
        try session(id, for: client).statistics
    }

    func session(_ id: UInt32, for client: SessionClient) throws(CaptureError) -> Session {
        guard let session = sessions[id], client.mayControl(session.client.identity) else {
            throw CaptureError(.noSuchSession, "there is no session \(id)")
        }
        return session
    }

    /// The number of a waiting change.
    func nextChange() -> UInt64 {
        lastChange += 1
        return lastChange
    }

    /// Tells of the state that a session has come to.
    func announce(_ session: Session) {
        let why = session.reason.map { ": \($0.message)" } ?? ""
        log.debug("session \(session.id) is \(session.state.rawValue)\(why)")
        observer.sessionChanged(session.snapshot)
    }

    /// Forgets the sessions that have been over the longest, beyond the number that stays listed.
    func forgetOldest() {
        let over = sessions.values.filter(\.state.isFinal).map(\.id).sorted()
        for id in over.dropLast(Self.remembered) {
            sessions[id] = nil
            observer.sessionRemoved(id)
        }
    }
}

/// How long the engine waits for a recorder.
public struct RecorderPatience: Sendable {
    /// Until its file is begun.
    public var begin: Duration
    /// Until its file is finished, after it was told to.
    public var finish: Duration

    /// The given limits.
    public init(begin: Duration = .seconds(60), finish: Duration = .seconds(60)) {
        self.begin = begin
        self.finish = finish
    }
}
