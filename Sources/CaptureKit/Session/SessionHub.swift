import CaptureBus
import CaptureCore
import CaptureMessages
import Synchronization

/// Hears what the daemon says about one session, in order, and passes it on to everyone who listens.
///
/// Thread-safe: fed on the bus thread, listened to from tasks.
final class SessionHub: Sendable {
    private struct State {
        var status = SessionStatus(.configured)
        /// The properties that a signal has told of; a later answer to GetAll may be older.
        var heard: Set<String> = []
        var properties: [String: BusValue] = [:]
        var results: [OutputResult] = []
        /// Outputs that were saved and whose end was not told yet.
        var saved: [String: [SavedOutput]] = [:]
        var listeners: [Int: AsyncStream<SessionEvent>.Continuation] = [:]
        var lastListener = 0
        /// They wait for the end, even if their tasks are cancelled.
        var waiting: [CheckedContinuation<SessionStatus, Never>] = []
        /// Set when the start was requested.
        var isStarted = false
        var subscriptions: [BusSubscription] = []
        /// Set once the reason of an end was asked for.
        var isAsking = false
    }
    private let state = Mutex(State())
    let levelReaders = LevelReaders()
    let path: String
    private let daemon: CaptureDaemon

    init(_ daemon: CaptureDaemon, path: String) {
        self.daemon = daemon
        self.path = path
    }

    /// Where the session stands.
    var status: SessionStatus { state.withLock { $0.status } }

    /// What became of the outputs that are at their end.
    var results: [OutputResult] { state.withLock { $0.results } }

    /// Begins to listen on the bus, then reads how things stand.
    ///
    /// - Parameter isOwn: Whether this connection made the session, so that it is told of it unasked.
    func connect(isOwn: Bool) async throws(CaptureError) {
        let match = BusMatch(sender: CaptureNames.service, path: path)
        let signals = try await daemon.connection.subscribe(match) { [weak self] in self?.heard($0) }
        let name = try await daemon.connection.watchName(CaptureNames.service) { [weak self] _ in
            self?.lose("the capture daemon went away; its recorders finish their files by themselves")
        }
        let closed = try await daemon.connection.watchClose { [weak self] in self?.lose($0.message) }
        state.withLock { state in
            // A session that was lost meanwhile gets no events any more.
            if !state.status.state.isFinal { state.subscriptions = [signals, name, closed] }
        }
        if isOwn {
            // It was only just made, and need not be waited for to say so. Somebody else may have stopped it.
            Task { await look() }
        } else {
            try await daemon.askToBeTold()
            update(try await daemon.properties(of: path, CaptureNames.session), .answer)
        }
    }

    /// What happens from now on, beginning with how things stand. Ends after the final state.
    func events() -> AsyncStream<SessionEvent> {
        let (stream, continuation) = AsyncStream<SessionEvent>.makeStream()
        state.withLock { state in
            for result in state.results { continuation.yield(.finished(result)) }
            continuation.yield(.changed(state.status))
            if state.status.state.isFinal { return continuation.finish() }
            state.lastListener += 1
            let number = state.lastListener
            state.listeners[number] = continuation
            // The stream keeps this object until nobody reads it any more.
            continuation.onTermination = { [self] _ in
                _ = self.state.withLock { $0.listeners.removeValue(forKey: number) }
            }
        }
        return stream
    }

    /// Waits for the final state, even in a cancelled task.
    func ended() async -> SessionStatus {
        await withCheckedContinuation { continuation in
            let status = state.withLock { state -> SessionStatus? in
                if state.status.state.isFinal { return state.status }
                state.waiting.append(continuation)
                return nil
            }
            if let status { continuation.resume(returning: status) }
        }
    }

    /// How often an output of that name has finished.
    func ends(of output: String) -> Int { state.withLock { $0.results.count { $0.name == output } } }

    /// Whether the start was requested. From then on the daemon rejects changes to what it has opened.
    var isStarted: Bool { state.withLock { $0.isStarted || $0.status.state != .configured } }

    /// Enables or disables a connection.
    func enable(_ isEnabled: Bool, _ connection: ConnectionDescription) async throws(CaptureError) {
        try await call("EnableConnection", [.string(connection.input), .string(connection.output), .bool(isEnabled)])
    }

    /// Asks the daemon to start.
    func start() async throws(CaptureError) {
        state.withLock { $0.isStarted = true }
        try await call("Start")
    }

    /// Asks the daemon to stop.
    func stop() async throws(CaptureError) {
        if status.state.isFinal { return }
        do throws(CaptureError) {
            try await call("Stop")
        } catch {
            // If the session ended by itself meanwhile, it has stopped. Another user's session gives the same error and
            // runs on.
            guard [.wrongState, .noSuchSession].contains(error.code), await isOver() else { throw error }
        }
    }

    /// Opens the ring of a buffer output.
    func openBuffer(_ output: String) async throws(CaptureError) -> Descriptor {
        let answer = try await call("OpenBuffer", [.string(output)], timeout: Self.patience)
        return try CaptureDaemon.understood(answer.first?.file, "OpenBuffer")
    }

    /// Calls a method of the session.
    ///
    /// - Parameter timeout: In seconds; `nil` for the bus's own.
    @discardableResult
    func call(
        _ member: String,
        _ arguments: [BusValue] = [],
        timeout: Double? = CaptureDaemon.timeout
    ) async throws(CaptureError) -> [BusValue] {
        try await daemon.call(path, CaptureNames.session, member, arguments, timeout: timeout)
    }

    /// How long a call may take that waits for devices or recorders, in seconds: longer than the 60 s after which the
    /// daemon gives up on a recorder.
    static let patience = 75.0

    /// Whether the session has ended, asked anew: its end may not have been announced to us yet.
    func isOver() async -> Bool {
        await look()
        return status.state.isFinal
    }

    /// Reads how things stand; a daemon that is gone is told of otherwise.
    private func look() async {
        if let properties = try? await daemon.properties(of: path, CaptureNames.session) { update(properties, .answer) }
    }

    private func heard(_ signal: BusSignal) {
        switch (signal.interface, signal.member) {
        case (CaptureNames.properties, "PropertiesChanged"):
            guard signal.arguments.count >= 2, signal.arguments[0].text == CaptureNames.session,
                let changed = signal.arguments[1].properties
            else { return }
            update(changed, .signal)
        case (CaptureNames.session, "OutputFinished"):
            guard var result = OutputResult(signal.arguments) else { return }
            state.withLock { state in
                result.savedPictures = state.saved.removeValue(forKey: result.name) ?? []
                result.saved = result.savedPictures.first
                // Whoever takes photos may take any number of them, and listens.
                if !result.name.contains(".") { state.results.append(result) }
            }
            send(.finished(result))
        case (CaptureNames.session, "OutputSaved"):
            guard signal.arguments.count == 2, let name = signal.arguments[0].text,
                let saved = SavedOutput(signal.arguments[1])
            else { return }
            state.withLock { $0.saved[name, default: []].append(saved) }
        case (CaptureNames.session, "SegmentBegan"):
            guard signal.arguments.count == 2, let name = signal.arguments[0].text,
                let number = signal.arguments[1].integer(as: UInt32.self)
            else { return }
            send(.segment(output: name, .began(number)))
        case (CaptureNames.session, "SegmentFinished"):
            guard signal.arguments.count == 2, let name = signal.arguments[0].text,
                let segment = MovieSegment(signal.arguments[1])
            else { return }
            send(.segment(output: name, .finished(segment)))
        case (CaptureNames.session, "Levels"): levelReaders.heard(signal.arguments)
        case (CaptureNames.session, "BufferMoved"):
            guard let name = signal.arguments.first?.text else { return }
            send(.bufferMoved(output: name))
        default: return
        }
    }

    /// Where properties come from.
    private enum Origin {
        /// They are as they were announced, and newer than what was asked for before.
        case signal
        /// They may be older than what was announced since.
        case answer
        /// They are the last word: nothing is announced after the end.
        case lastAnswer
    }

    private func update(_ properties: [String: BusValue], _ origin: Origin) {
        let (status, isAsking) = state.withLock { state -> (SessionStatus?, Bool) in
            for (name, value) in properties where origin != .answer || !state.heard.contains(name) {
                state.properties[name] = value
                if origin == .signal { state.heard.insert(name) }
            }
            let word = state.properties["State"]?.text ?? ""
            guard !state.status.state.isFinal, let now = SessionState(rawValue: word) else { return (nil, false) }
            let reason = SessionStatus.reason(in: state.properties)
            if reason == nil, now == .failed || now == .interrupted, origin != .lastAnswer {
                // The end was announced before its reason: nobody is told without it.
                defer { state.isAsking = true }
                return (nil, !state.isAsking)
            }
            let status = SessionStatus(now, reason)
            if status == state.status { return (nil, false) }
            state.status = status
            return (status, false)
        }
        if let status { tell(status) }
        if isAsking { Task { await askForReason() } }
    }

    private func askForReason() async {
        do throws(CaptureError) {
            update(try await daemon.properties(of: path, CaptureNames.session), .lastAnswer)
        } catch {
            // The session is gone, and with it the reason; that it ended is known.
            update([:], .lastAnswer)
        }
    }

    private func lose(_ message: String) {
        let status = SessionStatus(.failed, CaptureError(.unreachable, message))
        let isNew = state.withLock { state in
            if state.status.state.isFinal { return false }
            state.status = status
            return true
        }
        if isNew { tell(status) }
    }

    private func tell(_ status: SessionStatus) {
        send(.changed(status))
        guard status.state.isFinal else { return }
        let (listeners, waiting, subscriptions) = state.withLock { state in
            let taken = (state.listeners, state.waiting, state.subscriptions)
            state.listeners = [:]
            state.waiting = []
            state.subscriptions = []
            return taken
        }
        for listener in listeners.values { listener.finish() }
        levelReaders.finish()
        for one in waiting { one.resume(returning: status) }
        // Let go outside of the lock: the end of a subscription goes to the bus thread.
        withExtendedLifetime(subscriptions) {}
    }

    private func send(_ event: SessionEvent) {
        for listener in state.withLock({ Array($0.listeners.values) }) { listener.yield(event) }
    }
}
