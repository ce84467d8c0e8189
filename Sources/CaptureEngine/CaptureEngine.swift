public import Authorization
public import CaptureCore
import Logging

/// The sessions of a machine: who captures what into which outputs, and in which state that is.
///
/// An actor for the control plane alone: no frame and no sample passes through it. Everything a session needs from
/// outside (devices, rings, recorders, consent) comes through the protocols in `Collaborators.swift`.
public actor CaptureEngine {
    let gate: AuthorizationGate
    let observer: any EngineObserver
    let sessions = SessionTable()
    let uses: UseLog
    let desk: RecorderDesk
    let shown = ShownRings()
    private(set) var silence = SilenceWatch()
    private(set) var preRollMemory = RecordingJob.usualPreRollBytes
    private let devices: any DeviceProvider
    private let rings: any RingProvider
    private var madePool: SourcePool?
    private var lastChange: UInt64 = 0
    private var isShuttingDown = false
    /// Why devices stand still; `nil` while they do not.
    private var pause: CaptureError?

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
        self.devices = devices
        self.rings = rings
        self.gate = gate
        self.observer = observer
        uses = UseLog(history)
        desk = RecorderDesk(
            recorders: recorders,
            devices: devices,
            observer: observer,
            saver: saver,
            patience: patience
        )
        gate.enforced(by: self)
    }

    var pool: SourcePool {
        if let madePool { return madePool }
        let pool = SourcePool(
            devices: devices,
            rings: rings,
            lost: { [weak self] users, error in await self?.deviceEnded(users, error) },
            moved: { [weak self] shared, users in await self?.moved(shared, users) }
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
        try desk.checkSaving(description)
        for input in description.inputs { _ = try await pool.resolve(input) }
        // A shutdown that began meanwhile ends only the sessions that existed then.
        if isShuttingDown { throw CaptureError(.unreachable, "captured is shutting down") }
        let session = try sessions.add(description, files: files, client: client)
        session.pause = pause
        observer.sessionAdded(session.snapshot)
        return session.id
    }

    /// The sessions that the caller may see, the oldest first.
    public func list(for client: SessionClient) -> [SessionSnapshot] {
        sessions.values.filter { client.mayControl($0.client.identity) }.map(\.snapshot).sorted { $0.id < $1.id }
    }

    /// The counters of a session. Only the program that made it is told how loud its sound is: that says something of what is
    /// heard.
    public func statistics(of id: UInt32, client: SessionClient) throws(CaptureError) -> SessionStatistics {
        let session = try sessions.find(id, for: client)
        let isOwn = session.client.identity.hasSameConsent(as: client.identity)
        return isOwn && !session.isEnding ? session.statistics : session.statistics.withoutLoudness
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

    // MARK: What comes from outside

    /// A recorder reported something, or nothing more.
    func reported(_ report: RecorderReport?, by recorder: any RecorderHandle, _ id: UInt32, _ name: String) {
        if let session = sessions[id] { desk.take(report, by: recorder, name, of: session, on: self) }
    }

    /// A device is about to go on in another ring.
    private func moved(_ shared: SharedSource, _ users: Set<UInt32>) { shown.handOver(shared, to: users, on: self) }

    /// Finishes every file, for a daemon that is told to end.
    public func shutDown() async {
        isShuttingDown = true
        await withTaskGroup { group in
            for id in sessions.values.filter({ !$0.state.isFinal }).map(\.id) {
                group.addTask { await self.shutDown(id) }
            }
        }
    }

    private func shutDown(_ id: UInt32) async {
        guard let session = sessions[id] else { return }
        await end(session, as: .stopped, CaptureError(.unreachable, "captured was stopped"))
    }

    /// Sets how long a device may deliver nothing usable to a recording: `SilenceTimeoutSec=`.
    public func setSilenceLimit(_ limit: Duration) { silence.limit = limit }

    /// Sets how many bytes recorders keep for a pre-roll that start from now on: `PreRollMemory=`.
    public func setPreRollMemory(_ bytes: Int64) { preRollMemory = bytes }

    /// Takes a turn of the engine, to prove that the engine works, and looks after devices that deliver nothing.
    ///
    /// Sessions show as `suspended` while their devices stand still because a part of the daemon does not prove that it
    /// works. Nothing of such a session ends: devices stay open, recorders keep writing their files, and rings stay where
    /// they are. Its recordings have a gap, which `DropCause.paused` counts.
    ///
    /// - Parameters:
    ///   - time: When the turn is taken; a test passes times of its own.
    ///   - fault: Why devices stand still; `nil` if they do not. Called within the turn, so that sessions show the
    ///     state at that time.
    public func takeTurn(at time: SuspendingClock.Instant? = nil, _ fault: @Sendable () -> CaptureError?) {
        let fault = fault()
        if fault != pause {
            pause = fault
            for session in sessions.values.sorted(by: { $0.id < $1.id }) {
                session.pause = fault
                if session.state == .running { observer.sessionChanged(session.snapshot) }
            }
        }
        let silent = silence.look(at: Array(sessions.values), time ?? .now) { observer.sessionChanged($0.snapshot) }
        for (session, fault) in silent { _ = beginEnd(session, as: .failed, fault) }
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

/// Changes to a session: a whole new description, applied at once or not at all.
extension CaptureEngine {
    /// Gives a session a new description.
    ///
    /// An input or output that keeps its name stays as it is and must be described as before. An output that has
    /// finished is the exception: its description is ignored, or a new output of that name replaces it.
    ///
    /// First the engine opens and starts what is new. When all of it runs, it finishes and closes what is no longer
    /// described. A fault before that leaves the session as it was. The changes of one session run one after the other,
    /// in the order of the calls.
    ///
    /// - Parameters:
    ///   - files: For each new output that writes one, the file that the client opened.
    /// - Throws: `.notPermitted` if it would capture a kind of media without a stored consent (a change never asks:
    ///   request access first); `.wrongState` if the session is over, is starting, or ends before this change's turn.
    public func configure(
        _ id: UInt32,
        _ description: SessionDescription,
        files: [String: any OpenFile],
        client: SessionClient
    ) async throws(CaptureError) {
        try await configure(id, files: files, client: client) { _ in description }
    }

    /// Changes a session's description. The new one is made when the change's turn comes, from the description of that
    /// time.
    private func configure(
        _ id: UInt32,
        files: [String: any OpenFile],
        client: SessionClient,
        _ describe: (SessionDescription) throws(CaptureError) -> SessionDescription
    ) async throws(CaptureError) {
        let session = try changeable(id, by: client)
        // If the session cannot be changed, fail at once.
        try session.checkChangeable()
        try await inTurn(session, for: client) { () throws(CaptureError) in
            try session.checkChangeable()
            let change = SessionChange(of: session, files: files, by: client)
            try await change.apply(try describe(session.description), on: self)
        }
    }

    /// Refuses clients that may not change a session, before anything else of the call is looked at.
    ///
    /// - Throws: `.noSuchSession` for another user's session, `.notPermitted` for another program's.
    public func checkMayChange(_ id: UInt32, client: SessionClient) throws(CaptureError) {
        _ = try changeable(id, by: client)
    }

    func changeable(_ id: UInt32, by client: SessionClient) throws(CaptureError) -> Session {
        let session = try sessions.find(id, for: client)
        let isOwn = session.client.taking == nil || session.client.connection == client.connection
        guard isOwn, session.client.identity.hasSameConsent(as: client.identity) else {
            throw CaptureError(.notPermitted, "only the program that made session \(id) may change it")
        }
        return session
    }

    /// Pauses a movie or a sound, or has it go on: what is captured meanwhile is not in the file, whose timeline closes up.
    /// Devices stay open, and in use. Does nothing if it is so already.
    ///
    /// - Throws: `notPermitted` for another program; `invalidArgument` for an output that does not exist or cannot be
    ///   paused; `wrongState` unless it records.
    public func setPaused(_ isPaused: Bool, _ id: UInt32, output name: String, client: SessionClient)
        throws(CaptureError)
    {
        try running(id, output: name, by: client).setPaused(isPaused)
    }

    /// Begins a chapter in a recording, now.
    ///
    /// - Throws: `notPermitted` for another program; `invalidArgument` for a title that is too long, and an output that does
    ///   not exist or has no chapters; `overQuota` after the last that the file has room for; `wrongState` unless it records.
    public func mark(_ id: UInt32, output name: String, title: String, client: SessionClient) throws(CaptureError) {
        let marker = try RecordingMarker(title)
        try running(id, output: name, by: client).mark(marker)
    }

    /// Puts metadata into a movie, now or at the times that it tells.
    ///
    /// - Throws: `notPermitted` for another program; `invalidArgument` for an output that does not exist or has no metadata;
    ///   `overQuota` for more than a movie takes; `wrongState` unless it records.
    public func append(_ metadata: [TimedMetadata], _ id: UInt32, output name: String, client: SessionClient)
        throws(CaptureError)
    {
        try running(id, output: name, by: client).append(metadata)
    }

    /// Has a movie begin that waits, with what its recorder kept until now: from a time on, or all of it.
    ///
    /// - Throws: `notPermitted` for another program; `invalidArgument` for an output that does not exist or has no pre-roll;
    ///   `wrongState` unless the session runs.
    public func begin(_ id: UInt32, output name: String, from start: Timestamp?, client: SessionClient)
        throws(CaptureError)
    {
        try running(id, output: name, by: client).beginMovie(from: start)
    }

    /// Has a movie in segments go on in the next file, with what is captured from now on.
    ///
    /// - Throws: `notPermitted` for another program; `invalidArgument` for an output that does not exist or has no segments;
    ///   `wrongState` unless it records.
    public func cut(_ id: UInt32, output name: String, client: SessionClient) throws(CaptureError) {
        try running(id, output: name, by: client).cut()
    }

    /// Takes a file in which a movie in segments goes on later.
    ///
    /// - Throws: As `cut`; `busy` if enough files wait already; `invalidArgument` for what is no file on a disk, and for a file
    ///   that an output writes already; why it cannot be written.
    public func addSegment(_ id: UInt32, output name: String, file: any OpenFile, client: SessionClient)
        async throws(CaptureError)
    {
        let session = try changeable(id, by: client)
        guard file.identity != nil else {
            throw CaptureError(
                .invalidArgument,
                "a file of a movie in segments is a pipe, a socket or a device; give a file on a disk"
            )
        }
        try await inTurn(session, for: client) { () throws(CaptureError) in
            let output = try running(id, output: name, by: client)
            try sessions.refuseShared([name: file], beside: session.written, of: id, for: client)
            // A recorder that hangs holds up no other change for long.
            let timer = Task {
                try await Task.sleep(for: .seconds(3))
                sessions[id]?.outputs[name]?.segments?.waitNoLonger()
            }
            defer { timer.cancel() }
            try await output.add(file)
        }
    }

    private func running(_ id: UInt32, output name: String, by client: SessionClient) throws(CaptureError) -> LiveOutput
    {
        let session = try changeable(id, by: client)
        try session.checkAlive(", not running")
        guard session.state == .running else {
            throw CaptureError(.wrongState, "session \(id) is \(session.doing), not running")
        }
        guard let output = session.outputs[name] else {
            let known = session.outputs.keys.sorted().joined(separator: ", ")
            throw CaptureError(.invalidArgument, "session \(id) has no output '\(name)'; it has: \(known)")
        }
        return output
    }

    /// Adds one output to a session, fed by inputs that it has: a photo of a running recording, say. The oldest finished
    /// outputs give way if there are too many.
    public func addOutput(
        _ id: UInt32,
        _ output: OutputDescription,
        inputs: [String],
        file: (any OpenFile)?,
        client: SessionClient
    ) async throws(CaptureError) {
        let files = file.map { [output.name: $0] } ?? [:]
        try await configure(id, files: files, client: client) { present throws(CaptureError) in
            guard !present.outputs.contains(where: { $0.name == output.name }) else {
                throw CaptureError(.invalidArgument, "session \(id) already has an output '\(output.name)'")
            }
            var description = present
            // Finished ones stay for their counters while there is room.
            while description.outputs.count >= SessionDescription.mostParts {
                let done = description.outputs.first { sessions[id]?.outputs[$0.name]?.isDone == true }
                guard let name = done?.name else {
                    throw CaptureError(
                        .busy,
                        "session \(id) already has \(SessionDescription.mostParts) outputs; remove one"
                    )
                }
                description.outputs.removeAll { $0.name == name }
                description.connections.removeAll { $0.output == name }
            }
            description.outputs.append(output)
            description.connections += inputs.map { ConnectionDescription(input: $0, output: output.name) }
            return description
        }
    }
}

extension ClientIdentity {
    /// Whether another process is the same program of the same user, by all that is known of both but their numbers: it
    /// has the same consent.
    func hasSameConsent(as other: ClientIdentity) -> Bool {
        program == other.program && tier == other.tier && user == other.user && executable == other.executable
    }
}
