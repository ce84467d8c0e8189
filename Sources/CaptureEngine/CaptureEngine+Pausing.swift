public import CaptureCore

/// Shows sessions as `suspended` while their devices stand still because a part of the daemon does not prove that it
/// works.
///
/// Nothing of such a session ends: devices stay open, recorders keep writing their files, and rings stay where they
/// are. Its recordings have a gap, which `DropCause.paused` counts.
extension CaptureEngine {
    /// Takes a turn of the engine, to prove that the engine works, and looks after devices that deliver nothing.
    ///
    /// - Parameters:
    ///   - time: When the turn is taken; a test passes times of its own.
    ///   - fault: Why devices stand still; `nil` if they do not. Called within the turn, so that sessions show the
    ///     state at that time.
    public func takeTurn(at time: SuspendingClock.Instant? = nil, _ fault: @Sendable () -> CaptureError?) {
        let fault = fault()
        defer { lookForSilence(at: time ?? .now) }
        if fault == pause { return }
        pause = fault
        for session in sessions.values.sorted(by: { $0.id < $1.id }) {
            session.pause = fault
            if session.state == .running { observer.sessionChanged(session.snapshot) }
        }
    }
}
