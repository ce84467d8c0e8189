import CaptureBus
public import CaptureCore

/// A process that has the node of a camera or microphone open past the daemon.
public struct NodeHolder: Hashable, Sendable {
    /// The node, as `/dev/video0`.
    public var node: String
    /// The process's id.
    public var process: Int
    /// Whose it is, by uid.
    public var user: UInt32
    /// What it calls itself, which it may choose.
    public var name: String
    /// The file that it runs; empty where it cannot be told.
    public var program: String

    /// A holder of the given parts.
    public init(node: String, process: Int, user: UInt32, name: String, program: String) {
        self.node = node
        self.process = process
        self.user = user
        self.name = name
        self.program = program
    }

    init(_ facts: [String: BusValue]) throws(CaptureError) {
        guard let node = facts["node"]?.text, let process = facts["pid"]?.integer.flatMap({ Int(exactly: $0) }),
            let user = facts["uid"]?.unsigned.flatMap({ UInt32(exactly: $0) })
        else { throw CaptureDaemon.malformed("ListHolders") }
        self.node = node
        self.process = process
        self.user = user
        name = facts["name"]?.text ?? ""
        program = facts["program"]?.text ?? ""
    }
}

extension CaptureDaemon {
    /// The processes of this user that hold a camera's or microphone's node past the daemon; to root those of everyone.
    public func holders() async throws(CaptureError) -> [NodeHolder] {
        guard let list = try await manage("ListHolders").first?.elements else {
            throw CaptureDaemon.malformed("ListHolders")
        }
        var holders: [NodeHolder] = []
        for element in list { holders.append(try NodeHolder(element.properties ?? [:])) }
        return holders
    }
}
