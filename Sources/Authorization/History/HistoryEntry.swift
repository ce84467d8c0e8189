public import CaptureCore

/// What happened once: a use of a device, a decision, or a change in settings.
public struct HistoryEntry: Hashable, Sendable {
    /// What kind of event it is.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// A camera or microphone was used.
        case use
        /// A request was decided, or came to nothing.
        case decision
        /// An answer was changed in settings, or ran out.
        case setting
    }

    /// Its number; later entries have greater ones, and none is given twice.
    public var id: Int64 = 0
    /// What kind of event it is.
    public var kind: Kind
    /// Under whom: of a use the user that the program ran as, else the user whose answer it is; 0 for the machine's.
    public var user: UInt32
    /// The program's id.
    public var program: String
    /// What the id was worth; `nil` where settings were changed by id alone.
    public var tier: Tier?
    /// What it was about.
    public var service: Service
    /// The device's id; empty unless it is a use.
    public var device = ""
    /// The device's name; empty unless it is a use.
    public var deviceName = ""
    /// What decided: the reason of the answer that a use rests on, else the cause of the decision.
    public var cause: String
    /// What it came to.
    public var status: AuthorizationStatus
    /// When it began; of several that were put together, the first.
    public var began: AnswerTime
    /// When it ended, in milliseconds since 1970; of several that were put together, the last. `nil` while it lasts.
    public var ended: Int64?
    /// How long it was used, in milliseconds, suspend included; so far, while it lasts.
    public var duration: Int64 = 0
    /// How a use ended; empty while it lasts and for what is no use.
    public var outcome = ""
    /// A sentence; may be empty.
    public var message = ""
    /// The process; 0 where there is none.
    public var pid: Int32
    /// The session's number, by the daemon of that time; 0 where there is none.
    public var session: UInt32 = 0
    /// How many such events were put together in this entry.
    public var times: Int64 = 1
    /// Who changed it in settings; `nil` for what no program did there, and what happened before that was kept.
    public var author: SettingsAuthor?
}

/// A use of a device that is about to begin.
public struct DeviceUse: Hashable, Sendable {
    /// Who uses it.
    public var client: ClientIdentity
    /// What it is a use of.
    public var service: Service
    /// The device.
    public var device: DeviceID
    /// The device's name.
    public var deviceName: String
    /// What the answer comes from that allows it.
    public var basis: AnswerReason
    /// The session's number.
    public var session: UInt32

    /// A use of the given properties.
    public init(
        client: ClientIdentity,
        service: Service,
        device: DeviceID,
        deviceName: String,
        basis: AnswerReason,
        session: UInt32
    ) {
        self.client = client
        self.service = service
        self.device = device
        self.deviceName = deviceName
        self.basis = basis
        self.session = session
    }
}

/// A use that is in the history and has not ended.
public struct DeviceUseKey: Hashable, Sendable {
    /// The number of its entry; later ones have greater numbers.
    public let value: Int64
}

/// How a use ended.
public enum UseOutcome: String, Hashable, Sendable {
    /// As it was asked to.
    case stopped
    /// Its device went away or was taken.
    case interrupted
    /// The consent was withdrawn or ran out.
    case revoked
    /// Something failed.
    case failed
    /// The daemon ended without a word; until when is the latest time known.
    case daemonEnded = "daemon-ended"
}
