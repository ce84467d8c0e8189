/// An event of the past: a use of a device, a decision, or a change in settings.
public struct HistoryEvent: Hashable, Sendable {
    /// Its number; later events have greater ones.
    public var id: UInt64 = 0
    /// `use`, `decision` or `setting`.
    public var kind = ""
    /// Under whom.
    public var user = ""
    /// The program's id.
    public var program = ""
    /// How sure the program's identity was.
    public var tier = ""
    /// The service that it was about.
    public var service = ""
    /// The device's id; empty unless it is a use.
    public var device = ""
    /// The device's name; empty unless it is a use.
    public var deviceName = ""
    /// The ground of the decision.
    public var cause = ""
    /// The status that it came to.
    public var status: AuthorizationStatus?
    /// When it began, in milliseconds since 1970.
    public var began: Int64 = 0
    /// When it ended, in milliseconds since 1970; `nil` while it lasts.
    public var ended: Int64?
    /// How long, in milliseconds; so far, while it lasts.
    public var duration: Int64 = 0
    /// How a use ended; empty while it lasts, and for what is no use.
    public var outcome = ""
    /// A sentence; may be empty.
    public var message = ""
    /// The process; 0 if the event has no process.
    public var processID: UInt32 = 0
    /// The session; 0 if the event has no session.
    public var session: UInt32 = 0
    /// How many such events it stands for.
    public var times: Int64 = 1
    /// The user whose program set or reset an answer, or turned a switch; empty if no program did it in settings, or if the
    /// user was not kept.
    public var authorUser = ""
    /// That program's id; empty as well.
    public var authorProgram = ""

    /// An event of which nothing is known.
    public init() {}

    /// An event of a kind, of which nothing else is known.
    public init(id: UInt64, kind: String) {
        self.id = id
        self.kind = kind
    }
}
