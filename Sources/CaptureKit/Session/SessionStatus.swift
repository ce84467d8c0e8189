public import CaptureCore

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

/// What became of an output.
public struct OutputResult: Hashable, Sendable {
    /// The output's name.
    public var name: String
    /// Why it was not made, or not to the end; `nil` when it is complete.
    public var error: CaptureError?
    /// What was written.
    public var statistics: OutputStatistics
    /// What came of it in the media library, for an output that was saved there, and for the connection alone that asked for
    /// it; `nil` for any other, and for one that is not there.
    public var saved: SavedOutput?

    /// A result of the given parts.
    public init(name: String, error: CaptureError?, statistics: OutputStatistics, saved: SavedOutput? = nil) {
        self.name = name
        self.error = error
        self.statistics = statistics
        self.saved = saved
    }
}

/// What came of an output in the media library.
public struct SavedOutput: Hashable, Sendable {
    /// The asset; `nil` for a program that may add and not read.
    public var asset: MediaAsset.ID?
    /// The name of the album that it joined; `nil` for none.
    public var album: String?
    /// Why it is in the library, yet not where it was to be, in a sentence.
    public var remark: String?

    /// In the library, and what else there is to say.
    public init(asset: MediaAsset.ID? = nil, album: String? = nil, remark: String? = nil) {
        self.asset = asset
        self.album = album
        self.remark = remark
    }
}

/// Something that happened to a session.
public enum SessionEvent: Hashable, Sendable {
    /// It stands elsewhere now.
    case changed(SessionStatus)
    /// An output is at its end.
    case finished(OutputResult)
    /// A buffer's stream goes on in other memory.
    case bufferMoved(output: String)
}
