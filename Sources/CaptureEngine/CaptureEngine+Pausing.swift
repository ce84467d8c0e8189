public import CaptureCore

/// Sessions whose devices stand still for a while, because a part of the daemon does not prove that it works.
///
/// Nothing of such a session ends: devices stay open, files are written on, rings stay where they are. It only shows as
/// `suspended` while nothing is captured. Its recordings have a gap there, which is counted as `DropCause.paused`.
extension CaptureEngine {
    /// A turn of the engine, by which it proves that it works.
    ///
    /// - Parameter fault: Why devices stand still; `nil` when they do not. Asked in the turn itself, so that sessions show
    ///   what was true in it.
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
