import CaptureKit

/// The lockdown for a person and for programs.
enum LockdownPresentation {
    /// The sentence, the bridges, every node with who may open it and who holds it, and whose processes were looked at.
    ///
    /// - Parameter width: The terminal's columns; `nil` for everything.
    static func text(
        _ status: LockdownStatus,
        _ holders: [NodeHolder],
        seesAll: Bool,
        _ bridges: [BridgeState] = [],
        width: Int? = nil
    ) -> String {
        var table = Table(["NODE", "KIND", .text("OPEN TO"), .text("HELD BY")])
        for node in status.nodes {
            table.add([
                node.node.path, node.node.kind.rawValue, node.isAlone ? "only captured" : openTo(node),
                holders.filter { $0.node == node.node.path }.map {
                    "\($0.name) (\($0.process), \(node.names.user($0.user)))"
                }
                .joined(separator: ", "),
            ])
        }
        let sight = seesAll ? "" : "only your own processes are shown; root sees all\n"
        let faults = bridges.filter { !$0.fault.isEmpty }.map { "\($0.bridge.title): \($0.fault)\n" }.joined()
        let bridged = bridges.isEmpty ? "" : bridges.text + "\n" + faults
        return "\(status.text)\n\(bridged)\(table.fitted(to: width).text)\(sight)"
    }

    static func json(
        _ status: LockdownStatus,
        _ holders: [NodeHolder],
        seesAll: Bool,
        _ bridges: [BridgeState] = []
    ) -> JSON {
        [
            "lockdown": JSON(status.isOn), "whole": JSON(status.isWhole),
            "faults": .array(status.faults.map { JSON($0) }), "bridges": bridges.json,
            "nodes": .array(
                status.nodes.map { node in
                    [
                        "path": JSON(node.node.path), "kind": JSON(node.node.kind.rawValue),
                        "daemonAlone": JSON(node.isAlone), "openTo": .array(node.openTo.map { JSON($0) }),
                        "owner": JSON(node.names.user(node.access.owner)),
                        "group": JSON(node.names.group(node.access.group)),
                        "mode": JSON("0" + String(node.access.mode, radix: 8)),
                    ]
                }
            ),
            "holders": .array(
                holders.map { holder in
                    [
                        "node": JSON(holder.node), "process": .id(holder.process), "name": JSON(holder.name),
                        "program": JSON(holder.program), "user": JSON(AccountNames().user(holder.user)),
                    ]
                }
            ),
            "holdersOfAllUsers": JSON(seesAll),
        ]
    }

    /// Who holds what.
    static func table(_ holders: [NodeHolder], names: AccountNames) -> Table {
        var table = Table([">PROCESS", "PROGRAM", "USER", "NODE"])
        for holder in holders {
            table.add([
                "\(holder.process)", holder.program.isEmpty ? holder.name : holder.program, names.user(holder.user),
                holder.node,
            ])
        }
        return table
    }

    private static func openTo(_ node: NodeStatus) -> String {
        node.openTo.isEmpty ? "only root" : node.openTo.joined(separator: ", ")
    }
}
