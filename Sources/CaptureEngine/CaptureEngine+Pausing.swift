public import CaptureCore

/// Shows sessions as `suspended` while their devices stand still because a part of the daemon does not prove that it
/// works.
///
/// Nothing of such a session ends: devices stay open, recorders keep writing their files, and rings stay where they
/// are. Its recordings have a gap, which `DropCause.paused` counts.
extension CaptureEngine {
    /// Takes a turn of the engine, to prove that the engine works.
    ///
    /// - Parameter fault: Why devices stand still; `nil` if they do not. Called within the turn, so that sessions show
    ///   the state at that time.
    public func takeTurn(_ fault: @Sendable () -> CaptureError?) {
        let now = fault()
        if now == pause { return }
        pause = now
        for session in sessions.values.sorted(by: { $0.id < $1.id }) {
            session.pause = now
            if session.state == .running { observer.sessionChanged(session.snapshot) }
        }
    }
}
