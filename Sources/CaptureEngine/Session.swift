import Authorization
import CaptureCore

/// A session in the engine; touched by the engine's actor alone.
final class Session {
    /// Where it stands, as far as nothing ends or interrupts it.
    private enum Phase {
        case configured
        /// Its start waits for a person's answer.
        case authorizing(Task<Void, Never>)
        /// Its start opens devices and recorders.
        case starting(Task<Void, Never>)
        /// Its start failed in the given state, and its end follows.
        case refused(CaptureError, at: SessionState)
        case running
        /// Its devices are closed until it may go on.
        case suspended(CaptureError, Resumption)
        case over(SessionState, CaptureError?, refusal: CaptureError?)
    }

    private enum Resumption {
        case waiting
        /// `looksAgain` says that the interruption may be over, since the resumption looked.
        case underWay(Task<Void, Never>, looksAgain: Bool)
    }

    /// What takes its devices away.
    private enum Halt {
        case none
        /// `looksAgain` says that the interruption may be over, since it was looked at last.
        case interrupting(Task<Void, Never>, looksAgain: Bool)
        /// Ends it, after the interruption that was under way.
        case ending(Task<Void, Never>, after: Task<Void, Never>?)
        /// Its devices are closed and its files finished; the counters are what they were then.
        case ended(Task<Void, Never>, SessionStatistics)
    }

    let id: UInt32
    let client: SessionClient
    var description: SessionDescription {
        didSet {
            disabled = disabledConnections(in: description)
            levelWatchers = levelWatchers.filter { watched in description.outputs.contains { $0.name == watched.key } }
        }
    }
    /// The connections that are disabled.
    private(set) var disabled: Set<ConnectionDescription> = []
    /// By output name, the connections that receive the levels of its sound, and how often each asked for them.
    var levelWatchers: [String: [String: Int]] = [:]
    var files: [String: any OpenFile]
    private var phase = Phase.configured
    private var halt = Halt.none
    /// Why its devices stand still although it runs; `nil` if they do not.
    var pause: CaptureError?
    /// Why one of its inputs delivers nothing for a while; `nil` if none is interrupted.
    var interruption: CaptureError?
    /// Why nothing comes although it runs.
    var standstill: CaptureError? { pause ?? interruption }
    /// By input name.
    var inputs: [String: LiveInput] = [:]
    /// By output name; an output stays here when it is done, for its counters.
    var outputs: [String: LiveOutput] = [:]
    var grants: [Service: Grant] = [:]
    /// When it ran first.
    private(set) var startedAt: ContinuousClock.Instant?
    /// The first fault of an output while others went on: the session's reason in the end.
    private(set) var firstFault: CaptureError?
    /// The photos that are asked for and not taken yet.
    var shots = PhotoShots()
    /// Has one of its cameras in another size for photos; `nil` while all run as described.
    var still: StillCapture?
    /// What its inputs had counted when it was interrupted, by name.
    var before: [String: InputStatistics] = [:]
    /// Whether its client has left, and nobody reads its buffers any more.
    var isAbandoned = false
    /// Its changes, which run one after the other.
    var changes = ChangeQueue()
    /// Whether it may deliver anything.
    var delivery = Delivery()

    init(id: UInt32, client: SessionClient, description: SessionDescription, files: [String: any OpenFile]) {
        self.id = id
        self.client = client
        self.description = description
        self.files = files
    }

    /// As whom a client acts that may change it: what a person takes by a question is the question's.
    func acting(_ client: SessionClient) -> SessionClient { self.client.taking == nil ? client : self.client }

    // MARK: Where it stands

    var state: SessionState {
        switch phase {
        case .configured: .configured
        case .authorizing: .authorizing
        case .starting: .starting
        case .refused(_, at: let state), .over(let state, _, _): state
        case .running: .running
        case .suspended: .suspended
        }
    }

    /// Why it stands there.
    var reason: CaptureError? {
        switch phase {
        case .suspended(let reason, _): reason
        case .over(_, let reason, _): reason
        default: nil
        }
    }

    /// Why its start failed; `nil` if it did not.
    var refusal: CaptureError? {
        switch phase {
        case .refused(let error, _): error
        case .over(_, _, let refusal): refusal
        default: nil
        }
    }

    /// The start under way, or the resumption; whoever ends the session waits for it first.
    var starting: Task<Void, Never>? {
        switch phase {
        case .authorizing(let task), .starting(let task), .suspended(_, .underWay(let task, _)): task
        default: nil
        }
    }

    /// The interruption under way.
    var suspending: Task<Void, Never>? {
        switch halt {
        case .interrupting(let task, _): task
        case .ending(_, after: let task): task
        case .none, .ended: nil
        }
    }

    /// The end under way, or behind it, so that a session is ended once.
    var ending: Task<Void, Never>? {
        switch halt {
        case .ending(let task, _), .ended(let task, _): task
        case .none, .interrupting: nil
        }
    }

    /// Whether nothing more is to be had of it, or not before it goes on.
    var isEnding: Bool { if case .none = halt { false } else { true } }

    /// Whether it is interrupted, or about to be.
    var isInterrupted: Bool { state == .suspended || suspending != nil }

    /// What it is doing, for one who cannot have something of it now.
    var doing: String { isEnding && !state.isFinal ? "ending" : state.rawValue }

    /// The withdrawal of one of its grants; `nil` while all hold.
    var withdrawal: CaptureError? { grants.values.first { !$0.isLive }?.withdrawal }

    /// Refuses what is for a session that is not over, and whose consent stands: a withdrawal may be on its way here.
    ///
    /// - Throws: The withdrawal that ends it or ended it; else `wrongState` if it is over.
    func checkAlive(_ wanted: String = "") throws(CaptureError) {
        if let reason, reason.isWithdrawal { throw reason }
        if let withdrawal { throw withdrawal }
        guard !state.isFinal, !isEnding else {
            throw CaptureError(.wrongState, "session \(id) is \(doing)\(wanted)")
        }
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

    /// The counters now, or as they stood when the session ended.
    var statistics: SessionStatistics {
        if case .ended(_, let final) = halt { return final }
        var all = SessionStatistics()
        if let startedAt { all.elapsed = startedAt.duration(to: .now).nanoseconds }
        all.inputs = before.merging(inputs.mapValues(\.statistics)) { $1.following($0) }
        all.outputs = outputs.mapValues(\.statistics)
        for connection in disabled.sorted(by: { $0.input < $1.input }) {
            all.outputs[connection.output]?.disabledInputs.append(connection.input)
        }
        return all
    }

    // MARK: Its connections

    /// Enables or disables one of its connections.
    func setEnabled(_ isEnabled: Bool, _ connection: ConnectionDescription) {
        if isEnabled { disabled.remove(connection) } else { disabled.insert(connection) }
    }

    /// Whether a connection to an output is disabled; a buffer has just one.
    func isDisabled(_ output: String) -> Bool { disabled.contains { $0.output == output } }

    /// Those that are disabled and stay so under a new description.
    private func disabledConnections(in new: SessionDescription) -> Set<ConnectionDescription> {
        disabled.filter { (try? new.kindToDisable(of: $0)) != nil }
    }

    /// The kinds of media that disabled connections would bring to an output of a description.
    func disabledKinds(of output: String, in new: SessionDescription) -> Set<MediaType> {
        let connections = disabledConnections(in: new).filter { $0.output == output }
        return Set(connections.compactMap { try? new.kindToDisable(of: $0) })
    }

    // MARK: How it gets there

    /// Its start waits for consent.
    func authorize(in task: Task<Void, Never>) { phase = .authorizing(task) }

    /// Its start has the consent.
    func open() {
        if case .authorizing(let task) = phase { phase = .starting(task) }
    }

    /// Its start failed.
    func refuse(_ error: CaptureError) {
        if case .over(let state, let reason, _) = phase {
            phase = .over(state, reason, refusal: error)
        } else {
            phase = .refused(error, at: state)
        }
    }

    /// It runs, for the first time or again.
    func run() {
        if case .starting = phase { startedAt = .now }
        phase = .running
    }

    /// It stands still until it may go on.
    func suspend(_ reason: CaptureError) {
        if case .suspended(_, let resumption) = phase {
            phase = .suspended(reason, resumption)
        } else {
            phase = .suspended(reason, .waiting)
        }
    }

    /// Begins a resumption, if it is interrupted and nothing else happens to it. If not, whoever is at it looks once more.
    func resume(_ begin: () -> Task<Void, Never>) {
        if case .suspended(let reason, .waiting) = phase, !isEnding {
            phase = .suspended(reason, .underWay(begin(), looksAgain: false))
        } else {
            looksAgain = true
        }
    }

    /// The resumption came to nothing, or not yet.
    func endResumption() {
        if case .suspended(let reason, _) = phase { phase = .suspended(reason, .waiting) }
    }

    /// Whether what interrupts it may be over since it was looked at last.
    var looksAgain: Bool {
        get {
            switch (halt, phase) {
            case (.interrupting(_, let looksAgain), _): looksAgain
            case (.none, .suspended(_, .underWay(_, let looksAgain))): looksAgain
            default: false
            }
        }
        set {
            switch (halt, phase) {
            case (.interrupting(let task, _), _): halt = .interrupting(task, looksAgain: newValue)
            case (.none, .suspended(let reason, .underWay(let task, _))):
                phase = .suspended(reason, .underWay(task, looksAgain: newValue))
            default: break
            }
        }
    }

    /// Its interruption is under way. Only if nothing ends or interrupts it.
    func interrupt(in task: Task<Void, Never>) { halt = .interrupting(task, looksAgain: false) }

    /// Its devices are closed. An end that came meanwhile goes on.
    func endInterruption() {
        switch halt {
        case .interrupting: halt = .none
        case .ending(let task, _): halt = .ending(task, after: nil)
        case .none, .ended: break
        }
    }

    /// Its end is under way.
    func end(in task: Task<Void, Never>) { halt = .ending(task, after: suspending) }

    /// Keeps the counters, and lets go of what keeps a device, a ring or a process alive.
    ///
    /// - Returns: The grants, which are to be given back.
    func letGo(_ final: SessionStatistics) -> [Grant] {
        if let ending { halt = .ended(ending, final) }
        defer { grants = [:] }
        (inputs, outputs, files) = ([:], [:], [:])
        return Array(grants.values)
    }

    /// It is over.
    func close(as state: SessionState, _ reason: CaptureError?) {
        phase = .over(state, reason, refusal: refusal)
    }

    /// Whether a start may go on: nobody stopped the session and no consent was withdrawn meanwhile.
    func proceed() throws(CaptureError) {
        if isEnding { throw CaptureError(.wrongState, "stopped before it ran") }
        if let withdrawal { throw withdrawal }
    }

    /// Takes grants, so that their withdrawal ends the session, or interrupts it.
    ///
    /// - Throws: As `proceed`. Also if a grant was withdrawn on its way here, which no other check notices.
    nonisolated(nonsending) func adopt(_ more: [Service: Grant]) async throws(CaptureError) {
        try await client.confirmIdentity()
        grants.merge(more) { $1 }
        try proceed()
    }

    /// Takes the fault of an output.
    func note(_ fault: CaptureError?) { firstFault = firstFault ?? fault }
}

extension Session {
    /// The files that its outputs write or will write, by output; those of outputs that are done are free again.
    var written: [String: FileIdentity] {
        if state.isFinal { return [:] }
        let waiting = files.compactMapValues(\.identity)
        var written: [String: FileIdentity] = [:]
        for (name, output) in outputs where !output.isDone {
            for (place, file) in output.written.enumerated() {
                written[place == 0 ? name : "\(name)/\(place + 1)"] = file
            }
        }
        return written.merging(waiting) { $1 }
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
