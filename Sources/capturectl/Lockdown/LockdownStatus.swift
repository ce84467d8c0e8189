import CaptureKit

/// One node, and who may open it.
struct NodeStatus {
    var node: CaptureNode
    var access: NodeAccess
    /// Whether the daemon alone may, beside root.
    var isAlone: Bool
    var names = AccountNames()

    /// What keeps it from being the daemon's alone.
    var fault: String {
        openTo.isEmpty ? "is not the daemon's" : "is open to \(openTo.joined(separator: ", "))"
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
    var user: (UInt32) -> String = { Accounts.user($0) }
    var group: (UInt32) -> String = { Accounts.group($0) }
}

/// The lockdown as it is: the rule, and what came of it.
struct LockdownStatus {
    /// Whether the rule is in its place.
    var isOn: Bool
    var nodes: [NodeStatus]

    /// The nodes that others than the daemon may open.
    var openNodes: [NodeStatus] { nodes.filter { !$0.isAlone } }

    /// Whether every node is as the rule's presence says.
    var isWhole: Bool { isOn ? openNodes.isEmpty : openNodes.count == nodes.count }

    /// The whole of it in a sentence.
    var text: String {
        let (closed, open) = (nodes.count - openNodes.count, openNodes.count)
        if isOn, open == 0 { return "locked down: cameras and microphones are the daemon's alone" }
        if isOn {
            return "locked down in part: \(Quantities.count(open, "node")) of \(nodes.count) can be opened by others; "
                + "mend it with: sudo capturectl lockdown on"
        }
        if closed > 0 {
            return "not locked down, but \(Quantities.count(closed, "node")) of \(nodes.count) still the daemon's; "
                + "mend it with: sudo capturectl lockdown off"
        }
        return "not locked down: consent is advisory, since programs may open the nodes past the daemon"
    }
}
