public import CaptureCore

/// How a device monitor finds the devices of one kind.
public struct DeviceProber: Sendable {
    /// The kernel's subsystem whose events tell of changes, as in `video4linux` or `sound`.
    public let subsystem: String
    /// The folder of the device nodes, as in `/dev` or `/dev/snd`; watched for nodes that become accessible.
    public let folder: String
    /// How the names of the nodes in the folder begin, as in `video`; empty when every node there is one.
    public let prefix: String
    /// Lists the devices that are there now.
    ///
    /// Called on the monitor's thread alone. The argument has the device nodes of which something was heard, or is `nil`
    /// at the start, when nothing is known. A device whose node cannot be opened yet is left out; the prober is asked
    /// again when the node's permissions change.
    public let probe: @Sendable (_ changed: Set<String>?) -> [DeviceDescription]

    /// A prober of the given parts.
    public init(
        subsystem: String,
        folder: String,
        prefix: String = "",
        probe: @escaping @Sendable (_ changed: Set<String>?) -> [DeviceDescription]
    ) {
        self.subsystem = subsystem
        self.folder = folder
        self.prefix = prefix
        self.probe = probe
    }

    /// Whether a node at this path may be one of this kind.
    func mayOwn(_ path: String) -> Bool { path.hasPrefix("\(folder)/\(prefix)") }
}
