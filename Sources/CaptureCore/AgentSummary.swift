/// An agent: a program that is registered to ask a person for consent.
public struct AgentSummary: Hashable, Sendable {
    /// The user whom it asks, by name if the daemon knows it.
    public var user = ""
    /// The same by uid.
    public var userID: UInt32 = 0
    /// The agent's program.
    public var program = ""
    /// That program's name for itself.
    public var name = ""
    /// How sure the program's identity is.
    public var tier = ""
    /// The agent's process.
    public var processID: UInt32 = 0
    /// The login session that it runs in; `nil` outside of one, as under the user's service manager.
    public var session: String?
    /// Its kind in the program's own words, such as `terminal` or `desktop`.
    public var kind = ""
    /// Whether it only asks for its own program, on its own terminal.
    public var isInline = false

    /// An agent of which nothing is known.
    public init() {}
}
