/// A process that has the node of a camera or microphone open past the daemon.
public struct NodeHolder: Hashable, Sendable {
    /// The node, as `/dev/video0`.
    public var node = ""
    /// The process's id.
    public var process = 0
    /// Whose it is, by uid.
    public var user: UInt32 = 0
    /// That user's name; empty if nobody looked it up.
    public var userName = ""
    /// Its name for itself, which it may choose.
    public var name = ""
    /// The file that it runs; empty if it cannot be told.
    public var program = ""

    /// A holder of which nothing is known.
    public init() {}

    /// A holder of the given parts.
    public init(node: String, process: Int, user: UInt32, name: String, program: String) {
        self.node = node
        self.process = process
        self.user = user
        self.name = name
        self.program = program
    }
}
