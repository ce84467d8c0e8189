/// A report of the door of the control socket. The words of a caller carry a mark there, so that no caller can speak for
/// the door.
///
/// The text is the contract between `captured` and `captured-door`, which belong to the same build.
public enum ControlReport: Hashable, Sendable {
    /// Somebody called.
    case caller(ControlCaller)
    /// The caller left before it said anything. The door waits for the next one.
    case left
    /// A caller that the door cannot describe. The door ends.
    case refused
    /// The caller said this.
    case said(String)

    private static let mark = "said\n"
    /// The most bytes that a caller may say at once, so that the report of it is no larger than a message.
    public static func largest(of message: Int) -> Int { message - mark.utf8.count }

    /// The report as text.
    public var text: String {
        switch self {
        case .caller(let caller): caller.text
        case .left: "left\n"
        case .refused: "refused\n"
        case .said(let text): Self.mark + text
        }
    }

    /// Reads a report from its text.
    ///
    /// - Throws: `CaptureError.Code.badData` for what is no report.
    public init(text: String) throws(CaptureError) {
        if text.hasPrefix(Self.mark) {
            self = .said(String(text.dropFirst(Self.mark.count)))
        } else if text == Self.left.text {
            self = .left
        } else if text == Self.refused.text {
            self = .refused
        } else {
            self = .caller(try ControlCaller(text: text))
        }
    }
}

/// A caller of the daemon's control socket, as the kernel recorded it at the connection.
///
/// The text is the contract between `captured` and `captured-door`, which belong to the same build.
public struct ControlCaller: Hashable, Sendable {
    /// The process.
    public var pid: Int32
    /// Its uid.
    public var user: UInt32
    /// Its gids.
    public var groups: [UInt32]

    /// Creates a caller with the given credentials.
    public init(pid: Int32, user: UInt32, groups: [UInt32]) {
        self.pid = pid
        self.user = user
        self.groups = groups
    }

    /// The caller as text.
    public var text: String {
        KeyValueText.encode([
            ("message", "caller"), ("pid", "\(pid)"), ("user", "\(user)"),
            ("groups", groups.map { "\($0)" }.joined(separator: " ")),
        ])
    }

    /// Reads a caller from its text.
    ///
    /// - Throws: `CaptureError.Code.badData` naming the missing, wrong or unknown key.
    public init(text: String) throws(CaptureError) {
        let values = try KeyValueText.decode(text)
        var words = MessageWords("a caller", values)
        guard values["message"] == "caller" else { throw CaptureError(.badData, "captured-door named no caller") }
        pid = try words.number("pid", in: Int32(0)...)
        user = try words.number("user", in: UInt32(0)..<UInt32.max)
        var groups: [UInt32] = []
        for word in try words.word("groups").split(separator: " ") {
            guard let group = UInt32(word) else { throw CaptureError(.badData, "the group '\(word)' is no number") }
            groups.append(group)
        }
        self.groups = groups
        try words.finish()
    }
}

/// A request to the control socket, which works while the bus does not. Each request is one packet of text.
///
/// Tightening consent is free there. Loosening it needs polkit, which only the bus can reach, so here only root may do
/// it.
public enum ControlRequest: Hashable, Sendable {
    /// `Authorization.Set`: an answer, in words, for a user's program and a service.
    case set(user: String, program: String, service: String, answer: String)
    /// `Authorization.Reset`: empty texts mean the caller's own, every program, every service.
    case reset(user: String, program: String, service: String)
    /// `Authorization.SetSwitch`.
    case turn(service: String, isOn: Bool)
    /// `Manager.ListSessions`.
    case sessions

    /// The request as text.
    public var text: String {
        switch self {
        case .set(let user, let program, let service, let answer):
            KeyValueText.encode([
                ("message", "set"), ("user", user), ("program", program), ("service", service), ("answer", answer),
            ])
        case .reset(let user, let program, let service):
            KeyValueText.encode([("message", "reset"), ("user", user), ("program", program), ("service", service)])
        case .turn(let service, let isOn):
            KeyValueText.encode([("message", "switch"), ("service", service), ("on", isOn ? "1" : "0")])
        case .sessions: KeyValueText.encode([("message", "sessions")])
        }
    }

    /// Reads a request from its text.
    ///
    /// - Throws: `CaptureError.Code.badData` naming the missing, wrong or unknown key.
    public init(text: String) throws(CaptureError) {
        let values = try KeyValueText.decode(text)
        var words = MessageWords("a control request", values)
        switch values["message"] {
        case "set":
            self = .set(
                user: try words.word("user"),
                program: try words.word("program"),
                service: try words.word("service"),
                answer: try words.word("answer")
            )
        case "reset":
            self = .reset(
                user: try words.word("user"),
                program: try words.word("program"),
                service: try words.word("service")
            )
        case "switch":
            let service = try words.word("service")
            self = .turn(service: service, isOn: try words.number("on", in: 0...1) == 1)
        case "sessions": self = .sessions
        case let word:
            throw CaptureError(.badData, "unknown request '\(word ?? "")', expected set, reset, switch or sessions")
        }
        try words.finish()
    }
}

/// An answer on the control socket: packets of text. The last one is `done` or `failed`.
public enum ControlAnswer: Hashable, Sendable {
    /// One of the sessions of a `sessions` request, without its description.
    case session(SessionSummary)
    /// The request succeeded. For a reset, with the number of forgotten answers.
    case done(count: UInt32)
    /// The request failed, with the reason.
    case failed(CaptureError)

    /// The answer as text.
    public var text: String {
        switch self {
        case .session(let session):
            KeyValueText.encode([
                ("message", "session"), ("id", "\(session.id)"), ("state", session.status.state.rawValue),
                ("code", session.status.reason?.code.rawValue ?? ""),
                ("reason", session.status.reason?.message ?? ""),
                ("program", session.program), ("user", session.user), ("attached", session.isAttached ? "1" : "0"),
            ])
        case .done(let count): KeyValueText.encode([("message", "done"), ("count", "\(count)")])
        case .failed(let error):
            KeyValueText.encode([("message", "failed"), ("code", error.code.rawValue), ("reason", error.message)])
        }
    }

    /// Reads an answer from its text.
    ///
    /// - Throws: `CaptureError.Code.badData` naming the missing, wrong or unknown key.
    public init(text: String) throws(CaptureError) {
        let values = try KeyValueText.decode(text)
        var words = MessageWords("a control answer", values)
        switch values["message"] {
        case "session":
            let code = try words.word("code")
            let reason = try words.word("reason")
            let word = try words.word("state")
            guard let state = SessionState(rawValue: word) else {
                throw CaptureError(.badData, "a control answer has the unknown state '\(word)'")
            }
            var session = SessionSummary()
            session.id = try words.number("id", in: UInt32(1)...)
            session.status = SessionStatus(state, code.isEmpty ? nil : CaptureError(.init(rawValue: code), reason))
            session.program = try words.word("program")
            session.user = try words.word("user")
            session.isAttached = try words.number("attached", in: 0...1) == 1
            self = .session(session)
        case "done": self = .done(count: try words.number("count", in: UInt32(0)...))
        case "failed":
            let code = CaptureError.Code(rawValue: try words.word("code"))
            self = .failed(CaptureError(code, try words.word("reason")))
        case let word: throw CaptureError(.badData, "unknown answer '\(word ?? "")' from the daemon")
        }
        try words.finish()
    }
}
