/// What an identity is made of, part by part; a text is empty where there is no such part.
public struct IdentityParts: Hashable, Sendable {
    /// The unit or scope that it runs in: the user's own, else the system's.
    public var unit: String
    /// The login session that it belongs to.
    public var session: String
    /// The sandbox, as in `Flatpak instance 12`.
    public var sandbox: String
    /// Where the sandbox's files lie on the system, by the sandbox's own word.
    public var sandboxFolder: String
    /// The security label of its connection.
    public var label: String
    /// Whether the process was found by its number alone, since the bus holds no descriptor of it.
    public var isByPid: Bool
    /// When it started, in clock ticks since boot; 0 when it is not known.
    public var startTime: UInt64

    /// Parts of the given properties.
    public init(
        unit: String = "",
        session: String = "",
        sandbox: String = "",
        sandboxFolder: String = "",
        label: String = "",
        isByPid: Bool = false,
        startTime: UInt64 = 0
    ) {
        self.unit = unit
        self.session = session
        self.sandbox = sandbox
        self.sandboxFolder = sandboxFolder
        self.label = label
        self.isByPid = isByPid
        self.startTime = startTime
    }

    package init(_ facts: ProcessFacts, _ sandbox: Sandbox?) {
        self.init(
            unit: facts.ownUnit ?? facts.systemUnit ?? facts.userUnit ?? "",
            session: facts.session ?? "",
            sandbox: sandbox?.instance ?? "",
            sandboxFolder: sandbox?.folder ?? "",
            label: facts.label,
            isByPid: facts.isByPid,
            startTime: facts.startTime
        )
    }
}
