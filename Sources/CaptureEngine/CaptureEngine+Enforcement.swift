public import Authorization
import CaptureCore

/// Stops sessions when their consent is withdrawn.
extension CaptureEngine: GrantEnforcer {
    /// Ends the sessions whose consent was withdrawn, and interrupts those that may go on later. When it returns,
    /// nothing of them is delivered any more.
    ///
    /// - Returns: Tasks that finish the sessions' files, and checks of sessions that were interrupted before and may
    ///   have to end now.
    public func enforceWithdrawals() async -> [Task<Void, Never>] {
        var rest: [Task<Void, Never>] = []
        var stopping: [Session] = []
        // Tell every session to stop before waiting for any.
        for session in sessions.values where !session.state.isFinal {
            if let stop = beginStop(session) {
                rest.append(stop)
                stopping.append(session)
            }
            if session.isInterrupted {
                let id = session.id
                rest.append(Task { await self.endIfForbidden(id) })
            }
        }
        for session in stopping { await withCheckedContinuation { session.delivery.whenOver($0) } }
        return rest
    }

    /// Starts the end or interruption of a session; `nil` if it captures nothing or all its grants still hold.
    private func beginStop(_ session: Session) -> Task<Void, Never>? {
        let dead = session.grants.values.filter { !$0.isLive }
        guard let grant = dead.first(where: { $0.withdrawnBy == .withdrawn }) ?? dead.first else { return nil }
        if grant.withdrawnBy == .withdrawn { return beginEnd(session, as: .failed, grant.withdrawal) }
        // The program lost no consent: it may go on, or start again, when the interruption is over.
        guard session.canGoOn else { return beginEnd(session, as: .interrupted, grant.withdrawal) }
        // It is interrupted already and has not started anything again.
        if session.state == .suspended, session.starting == nil, !session.isEnding { return nil }
        return beginInterruption(session, grant.withdrawal)
    }
}
