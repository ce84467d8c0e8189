import CaptureCore

/// The changes of one session, which run one at a time in the order of arrival. Bound to the engine's actor.
struct ChangeQueue {
    typealias Turn = CheckedContinuation<Result<Void, CaptureError>, Never>

    /// A change that waits for its turn.
    private struct Waiting {
        var number: UInt64
        var connection: String
        var turn: Turn
    }

    private enum State {
        case idle
        /// A change has its turn. `ends` are resumed when it is over and no change waits.
        case underWay(waiting: [Waiting], ends: [CheckedContinuation<Void, Never>])
    }

    private var state = State.idle

    /// The most waiting changes: each may hold a file of its client.
    static let mostWaiting = 64

    /// Whether a change has its turn.
    var isUnderWay: Bool { if case .underWay = state { true } else { false } }

    /// How many wait for their turn.
    var waitingCount: Int { if case .underWay(let waiting, _) = state { waiting.count } else { 0 } }

    /// Takes the turn if it is free.
    mutating func begin() -> Bool {
        guard case .idle = state else { return false }
        state = .underWay(waiting: [], ends: [])
        return true
    }

    /// Queues a change behind the others. Only while a change is under way.
    mutating func wait(_ number: UInt64, for connection: String, _ turn: Turn) {
        guard case .underWay(var waiting, let ends) = state else { return turn.resume(returning: .success(())) }
        waiting.append(Waiting(number: number, connection: connection, turn: turn))
        state = .underWay(waiting: waiting, ends: ends)
    }

    /// Resumes a continuation when no change is under way; at once if none is now.
    mutating func whenIdle(_ end: CheckedContinuation<Void, Never>) {
        guard case .underWay(let waiting, let ends) = state else { return end.resume() }
        state = .underWay(waiting: waiting, ends: ends + [end])
    }

    /// Ends the turn. The change that waited longest gets the next one.
    mutating func end() {
        guard case .underWay(var waiting, let ends) = state else { return }
        if waiting.isEmpty {
            state = .idle
            for end in ends { end.resume() }
        } else {
            let next = waiting.removeFirst()
            state = .underWay(waiting: waiting, ends: ends)
            next.turn.resume(returning: .success(()))
        }
    }

    /// Refuses a waiting change. Does nothing if the change has begun or is over.
    mutating func refuse(_ number: UInt64, _ error: CaptureError) { refuse(error) { $0.number == number } }

    /// Refuses the waiting changes of a connection.
    mutating func refuse(of connection: String, _ error: CaptureError) { refuse(error) { $0.connection == connection } }

    /// Refuses all waiting changes.
    mutating func refuseAll(_ error: CaptureError) { refuse(error) { _ in true } }

    private mutating func refuse(_ error: CaptureError, where isMeant: (Waiting) -> Bool) {
        guard case .underWay(let waiting, let ends) = state else { return }
        state = .underWay(waiting: waiting.filter { !isMeant($0) }, ends: ends)
        for one in waiting where isMeant(one) { one.turn.resume(returning: .failure(error)) }
    }
}

extension CaptureEngine {
    /// Runs a change of a session after all earlier ones.
    ///
    /// - Parameter change: Runs while no other change of the session does. Check the session again in it: what held
    ///   before the turn may have changed.
    /// - Throws: `.wrongState` if the session ends or is interrupted before the turn, `.busy` if too many changes wait,
    ///   `.dismissed` if the task is cancelled before the turn, and what the change throws.
    func inTurn(
        _ session: Session,
        for client: SessionClient,
        _ change: () async throws(CaptureError) -> Void
    ) async throws(CaptureError) {
        try await takeTurn(session, for: client.connection)
        defer { endTurn(session) }
        if Task.isCancelled { throw ChangeQueue.cancelled }
        try await change()
    }

    /// Ends the turn of a change.
    func endTurn(_ session: Session) {
        session.changes.end()
        // Outputs may have finished during the change, even if it failed.
        finishIfDone(session)
    }

    /// Waits for the turn of a change, which `endTurn` ends.
    ///
    /// - Throws: As `inTurn`.
    func takeTurn(_ session: Session, for connection: String) async throws(CaptureError) {
        if session.changes.begin() { return }
        guard session.changes.waitingCount < ChangeQueue.mostWaiting else {
            throw CaptureError(
                .busy,
                "\(ChangeQueue.mostWaiting) changes of session \(session.id) are waiting already; wait until one is done"
            )
        }
        let id = session.id
        let number = nextChange()
        let turn = await withTaskCancellationHandler {
            await withCheckedContinuation { (turn: ChangeQueue.Turn) in
                if Task.isCancelled { return turn.resume(returning: .failure(ChangeQueue.cancelled)) }
                session.changes.wait(number, for: connection, turn)
            }
        } onCancel: {
            Task { await self.giveUp(number, id) }
        }
        try turn.get()
    }

    private func giveUp(_ number: UInt64, _ id: UInt32) {
        sessions[id]?.changes.refuse(number, ChangeQueue.cancelled)
    }

    /// Refuses the waiting changes, because the session ends or is interrupted.
    func refuseChanges(of session: Session, _ what: String, _ reason: CaptureError?) {
        let why = reason.map { ": \($0.message)" } ?? ""
        session.changes.refuseAll(
            CaptureError(.wrongState, "session \(session.id) \(what) before this change began\(why)")
        )
    }
}

extension ChangeQueue {
    static let cancelled = CaptureError(.dismissed, "the change was cancelled before it began")
    static let clientGone = CaptureError(.unreachable, "the program disconnected before this change began")
}
