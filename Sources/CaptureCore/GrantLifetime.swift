/// How long a yes holds.
public enum GrantLifetime: Hashable, Sendable {
    /// Until it is changed.
    case always
    /// Until a moment, in milliseconds since 1970.
    case until(Int64)
    /// Until the program's last connection has ended, and a short grace after that. Gone after a restart of the daemon.
    case connection
    /// For the process that asked, until its session has ended. Gone after a restart of the daemon.
    case session

    /// The word by which it travels over the bus; the moment goes beside it.
    public var word: String {
        switch self {
        case .always: "always"
        case .until: "until"
        case .connection: "connection"
        case .session: "session"
        }
    }

    /// Every word there is.
    public static let words = ["always", "until", "connection", "session"]

    /// The lifetime of a word.
    ///
    /// - Parameter moment: The end of `until`, which needs one.
    /// - Returns: `nil` for an unknown word, or for a moment with a word other than `until`.
    public init?(word: String, until moment: Int64? = nil) {
        switch (word, moment) {
        case ("always", nil): self = .always
        case ("until", let moment?): self = .until(moment)
        case ("connection", nil): self = .connection
        case ("session", nil): self = .session
        default: return nil
        }
    }

    /// Whether it outlives the daemon, and so is written to disk.
    public var isStored: Bool {
        switch self {
        case .always, .until: true
        case .connection, .session: false
        }
    }

    /// The moment, for one that has it.
    public var moment: Int64? {
        if case .until(let moment) = self { moment } else { nil }
    }
}
