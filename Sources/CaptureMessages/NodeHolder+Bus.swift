import CaptureBus
package import CaptureCore

extension NodeHolder: BusRecord {
    /// What `ListHolders` tells.
    package static let fields: [BusField<NodeHolder>] = [
        BusField("node", \.node, isRequired: true),
        BusField("pid", \.process, isRequired: true, write: { .uint32(UInt32(clamping: $0)) }) {
            $0.integer(as: Int.self)
        },
        BusField("uid", \.user, isRequired: true, write: { .uint32($0) }) {
            $0.integer(as: UInt32.self)
        },
        BusField("user", \.userName), BusField("name", \.name), BusField("program", \.program),
    ]
}
