import CaptureBus
public import CaptureCore

/// An event of the past: a use of a device, a decision, or a change in settings.
public struct HistoryEvent: Hashable, Sendable {
    /// Its number; later events have greater ones.
    public var id: UInt64
    /// `use`, `decision` or `setting`.
    public var kind: String
    /// Under whom.
    public var user = ""
    /// The program's id.
    public var program = ""
    /// What the id was worth.
    public var tier = ""
    /// What it was about.
    public var service = ""
    /// The device's id; empty unless it is a use.
    public var device = ""
    /// The device's name; empty unless it is a use.
    public var deviceName = ""
    /// What decided.
    public var cause = ""
    /// What it came to.
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
    /// The process; 0 where there is none.
    public var processID: UInt32 = 0
    /// The session; 0 where there is none.
    public var session: UInt32 = 0
    /// How many such events it stands for.
    public var times: Int64 = 1
    /// The user whose program set or reset an answer, or turned a switch; empty for what no program did in settings, and
    /// where that was not kept.
    public var authorUser = ""
    /// That program's id; empty as well.
    public var authorProgram = ""

    /// An event of a kind, of which nothing else is known.
    public init(id: UInt64, kind: String) {
        self.id = id
        self.kind = kind
    }
}

/// Which events to show; `nil` leaves a condition out.
public struct HistoryFilter: Hashable, Sendable {
    /// A user's name or number.
    public var user: String?
    /// A program's id.
    public var program: String?
    /// A service.
    public var service: AuthorizationService?
    /// What ended then or later, or lasts; milliseconds since 1970.
    public var since: Int64?
    /// What began then or earlier; milliseconds since 1970.
    public var until: Int64?

    /// A filter that lets everything through.
    public init() {}
}

/// Who used what, when and for how long, and every decision, as the daemon kept it.
///
/// Thread-safe.
public struct CaptureHistory: Sendable {
    private let daemon: CaptureDaemon

    /// The history of a daemon.
    public init(of daemon: CaptureDaemon) {
        self.daemon = daemon
    }

    /// The events that the caller may see, the latest first: a user's own, to root everybody's.
    ///
    /// - Parameter filter: Which.
    /// - Throws: `notPermitted` when another user's are asked for, `inputOutput` when the history cannot be read.
    public func events(_ filter: HistoryFilter = HistoryFilter()) async throws(CaptureError) -> [HistoryEvent] {
        var conditions: [String: BusValue] = ["limit": .uint32(200)]
        conditions["user"] = filter.user.map { .string($0) }
        conditions["program"] = filter.program.map { .string($0) }
        conditions["service"] = filter.service.map { .string($0.rawValue) }
        conditions["since"] = filter.since.map { .int64($0) }
        conditions["until"] = filter.until.map { .int64($0) }
        var events: [HistoryEvent] = []
        while true {
            let answer = try await daemon.call(
                CaptureNames.root,
                CaptureNames.authorization,
                "GetHistory",
                "a{sv}",
                [.properties(conditions)]
            )
            guard answer.count == 2, let page = answer[0].elements, let next = answer[1].unsigned else {
                throw CaptureDaemon.malformed("GetHistory")
            }
            events += page.compactMap(\.properties).map(HistoryEvent.init)
            if next == 0 { return events }
            // Each page begins before the last one's end, or this would never end.
            guard next < events.last.map({ $0.id + 1 }) ?? 0 else { throw CaptureDaemon.malformed("GetHistory") }
            conditions["before"] = .uint64(next)
        }
    }
}

extension HistoryEvent {
    init(_ row: [String: BusValue]) {
        self.init(id: row["id"]?.unsigned ?? 0, kind: row["kind"]?.text ?? "")
        user = row["user"]?.text ?? ""
        program = row["program"]?.text ?? ""
        tier = row["tier"]?.text ?? ""
        service = row["service"]?.text ?? ""
        device = row["device"]?.text ?? ""
        deviceName = row["device-name"]?.text ?? ""
        cause = row["cause"]?.text ?? ""
        status = row["status"]?.text.flatMap { AuthorizationStatus(word: $0) }
        began = row["began"]?.integer ?? 0
        ended = row["ended"]?.integer.flatMap { $0 == 0 ? nil : $0 }
        duration = row["duration"]?.integer ?? 0
        outcome = row["outcome"]?.text ?? ""
        message = row["message"]?.text ?? ""
        processID = UInt32(clamping: row["pid"]?.integer ?? 0)
        session = UInt32(clamping: row["session"]?.integer ?? 0)
        times = row["times"]?.integer ?? 1
        authorUser = row["author-user"]?.text ?? ""
        authorProgram = row["author-program"]?.text ?? ""
    }
}
