public import Authorization
import CaptureCore

/// Consent that is withdrawn while it is used.
extension CaptureEngine: GrantEnforcer {
    /// Ends the sessions whose consent was withdrawn, and interrupts those that may go on later; nothing of them is delivered
    /// any more when this returns.
    ///
    /// - Returns: Their ends and interruptions, with the files that are finished, and the looks at those interrupted before,
    ///   which may not go on any more.
    public func enforceWithdrawals() async -> [Task<Void, Never>] {
        var rest: [Task<Void, Never>] = []
        var stopping: [Session] = []
        // All are told to stop before one of them is waited for.
        for session in sessions.values where !session.state.isFinal {
            if let stop = beginStop(session) {
                rest.append(stop)
                stopping.append(session)
            }
            if session.state == .suspended || session.suspending != nil {
                let id = session.id
                rest.append(Task { await self.endIfForbidden(id) })
            }
        }
        for session in stopping { await withCheckedContinuation { session.delivery.whenOver($0) } }
        return rest
    }

    /// The end or interruption of a session, from now on under way; `nil` when it captures nothing, or all its grants hold.
    private func beginStop(_ session: Session) -> Task<Void, Never>? {
        let dead = session.grants.values.filter { !$0.isLive }
        guard let grant = dead.first(where: { $0.withdrawnBy == .withdrawn }) ?? dead.first else { return nil }
        if grant.withdrawnBy == .withdrawn { return beginEnd(session, as: .failed, grant.withdrawal) }
        // Nothing was taken from the program: it may go on, or start again, when that is over.
        guard session.canGoOn else { return beginEnd(session, as: .interrupted, grant.withdrawal) }
        // Interrupted already, and nothing of it has begun anew.
        if session.state == .suspended, session.starting == nil, !session.isEnding { return nil }
        return beginInterruption(session, grant.withdrawal)
    }
}
