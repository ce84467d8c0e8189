/// Where a session stands, and why.
public struct SessionStatus: Hashable, Sendable {
    /// Where it stands.
    public var state: SessionState
    /// Why it failed, is suspended or was interrupted.
    public var reason: CaptureError?

    /// A state with its reason.
    public init(_ state: SessionState, _ reason: CaptureError? = nil) {
        self.state = state
        self.reason = reason
    }

    /// Why capture was interrupted from outside, for a while (`suspended`) or for good (`interrupted`); `nil` in any other
    /// state.
    public var interruption: InterruptionReason? {
        guard state == .suspended || state == .interrupted, let reason else { return nil }
        switch reason.code {
        case .deviceLost: return .deviceLost
        case .noSignal: return .noSignal
        case .revoked, .denied, .restricted, .switchedOff: return .consentWithdrawn
        case .userAway: return .userAway
        case .busy: return .deviceInUse
        default: return .other
        }
    }
}

/// Why a running session was interrupted.
public enum InterruptionReason: String, Hashable, Sendable {
    /// The device was unplugged or failed.
    case deviceLost
    /// The device's input has no signal; capture goes on by itself when it returns.
    case noSignal
    /// The consent was withdrawn or switched off.
    case consentWithdrawn
    /// Another program took the device.
    case deviceInUse
    /// The user's session was locked, or another user sits at the machine; capture goes on, or may be started again, after
    /// that.
    case userAway
    /// As the reason's sentence says.
    case other
}
