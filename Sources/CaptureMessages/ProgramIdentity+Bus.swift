import CaptureBus
package import CaptureCore

extension ProgramIdentity: BusRecord {
    /// What `WhoAmI` tells.
    package static let fields: [BusField<ProgramIdentity>] = [
        BusField("program", \.program, isRequired: true), BusField("tier", \.tier), BusField("user", \.user),
        BusField("uid", \.userID), BusField("pid", \.processID), BusField("byPid", \.isByPid),
        BusField("name", \.name), BusField("detail", \.detail), BusField("unit", \.unit, none: .string("")),
        BusField("session", \.session, none: .string("")), BusField("sandbox", \.sandbox, none: .string("")),
        BusField("label", \.label, none: .string("")), BusField(among: \.file),
    ]
}

extension ProgramFile: BusRecord {
    /// Stands among the facts of an identity or an answer.
    package static let fields: [BusField<ProgramFile>] = [
        BusField("executable", \.path, isRequired: true, write: { .string($0) }) { value in
            value.text.flatMap { $0.isEmpty ? nil : $0 }
        },
        BusField("device", \.device, isRequired: true), BusField("inode", \.inode, isRequired: true),
        BusField("changed", \.changed), BusField("isProtected", \.isProtected),
    ]
}
