import CaptureKit
import CaptureSystem

/// One node, and who may open it.
struct NodeStatus {
    var node: CaptureNode
    var access: NodeAccess
    /// Whether the daemon alone may, beside root.
    var isAlone: Bool
    var names = AccountNames()

    /// What keeps it from being the daemon's alone.
    var fault: String {
        if node.isInSight, openTo.isEmpty { return "is still in /dev/snd, so PipeWire drops its card" }
        return openTo.isEmpty ? "is not the daemon's" : "is open to \(openTo.joined(separator: ", "))"
    }

    /// Who may open it, beside root, in words; the daemon's own account alone when it is locked.
    var openTo: [String] {
        var list: [String] = []
        if access.everyoneMay { list.append("everyone") }
        if access.owner != 0 { list.append("user \(names.user(access.owner))") }
        if access.groupMay { list.append("group \(names.group(access.group))") }
        // The list is how logind lets in who sits at the machine.
        list += access.listedUsers.map { "user \(names.user($0))" }
        list += access.listedGroups.map { "group \(names.group($0))" }
        return list
    }
}

/// Names of users and groups, in place of which tests have their own.
struct AccountNames {
    var user: (UInt32) -> String = { UserDatabase.user($0).value?.name ?? "\($0)" }
    var group: (UInt32) -> String = { UserDatabase.group($0).value ?? "\($0)" }
}

/// The lockdown as it is: the rule, and what came of it.
struct LockdownStatus {
    /// Whether the rule is in its place.
    var isOn: Bool
    var nodes: [NodeStatus]
    /// What else is not as the rule's presence says.
    var faults: [String] = []

    /// The nodes that others than the daemon may open.
    var openNodes: [NodeStatus] { nodes.filter { !$0.isAlone } }

    /// Whether every node matches the rule's presence.
    var isWhole: Bool { faults.isEmpty && (isOn ? openNodes.isEmpty : openNodes.count == nodes.count) }

    /// The status in a sentence.
    var text: String {
        let (closed, open) = (nodes.count - openNodes.count, openNodes.count)
        if isWhole, isOn { return "locked down: only the daemon can open cameras and microphones" }
        if isOn {
            let exposed = "\(Quantities.count(open, "node")) of \(nodes.count) can be opened by others"
            return "locked down in part: \(((open == 0 ? [] : [exposed]) + faults).joined(separator: "; ")); "
                + "fix it with: sudo capturectl lockdown on"
        }
        if !isWhole {
            let kept = closed == 0 ? [] : ["\(Quantities.count(closed, "node")) of \(nodes.count) still the daemon's"]
            return "not locked down, but \((kept + faults).joined(separator: "; ")); "
                + "fix it with: sudo capturectl lockdown off"
        }
        return "not locked down: consent is advisory, because programs can open the nodes without the daemon"
    }
}
