/// A session as the daemon lists it, over the bus and over the control socket.
public struct SessionSummary: Hashable, Sendable {
    /// Its number.
    public var id: UInt32 = 0
    /// Where it stands, and why.
    public var status = SessionStatus(.configured)
    /// The program that made it.
    public var program = ""
    /// The user whose it is, by name where the daemon knows it.
    public var user = ""
    /// Whether it ends with its program.
    public var isAttached = false
    /// The inputs, outputs and connections; `nil` when the daemon does not say.
    public var description: SessionDescription?

    /// A session of which nothing is known.
    public init() {}
}
