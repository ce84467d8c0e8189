/// A person's answer to one row of a question; `true` and `false` are a yes for always and a no.
public struct PersonsAnswer: Hashable, Sendable, ExpressibleByBooleanLiteral {
    /// Whether it is a yes.
    public var isAllowed: Bool
    /// Whether a yes is for chosen assets of the library alone.
    public var isLimited: Bool
    /// How long a yes holds; not looked at for a no, which always does.
    public var lifetime: GrantLifetime
    /// Whether it was given on the asking command's own terminal, as the daemon knows.
    public var isInline: Bool

    /// An answer of the given properties.
    public init(
        _ isAllowed: Bool,
        isLimited: Bool = false,
        lifetime: GrantLifetime = .always,
        isInline: Bool = false
    ) {
        self.isAllowed = isAllowed
        self.isLimited = isAllowed && isLimited
        self.lifetime = lifetime
        self.isInline = isInline
    }

    /// A yes for always, or a no.
    public init(booleanLiteral value: Bool) {
        self.init(value)
    }

    /// The status to store for it.
    public var status: AuthorizationStatus { isAllowed ? (isLimited ? .limited : .authorized) : .denied }

    /// As in `yes for this session`.
    public var words: String {
        guard isAllowed else { return "no" }
        let yes = isLimited ? "yes for chosen assets" : "yes"
        switch lifetime {
        case .always: return yes
        case .until: return yes + " until a date"
        case .connection: return yes + " until it is closed"
        case .session: return yes + " for this session"
        }
    }
}
