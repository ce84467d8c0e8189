import CaptureKit

/// What the doctor looks at of the device nodes.
extension InstallationChecks {
    /// The nodes of cameras and microphones, as they are without the lockdown, or with it.
    func nodes() -> [Finding] {
        let nodes = machine.captureNodes
        if nodes.isEmpty {
            return [
                .advice(
                    "nodes",
                    "the kernel offers no camera and no microphone",
                    "lsusb; sudo dmesg | tail  # is one plugged in, and is its driver loaded?"
                )
            ]
        }
        let status = lockdown.status()
        if status.isOn { return locked(status) }
        var findings = nodes.compactMap(open)
        findings += status.faults.map {
            .problem("lockdown", "the machine is not locked down, but \($0)", "sudo capturectl lockdown off")
        }
        if findings.isEmpty { findings.append(.fine("nodes", "\(nodes.count) capture nodes belong to their groups")) }
        return findings + [
            .advice(
                "lockdown",
                "consent is advisory: programs can open cameras and microphones without the daemon",
                "sudo capturectl lockdown on  # says what that stops, and asks"
            )
        ]
    }

    private func locked(_ status: LockdownStatus) -> [Finding] {
        let faults = status.openNodes.map { "\($0.node.path) \($0.fault)" } + status.faults
        let open = faults.map {
            Finding.problem("lockdown", "the machine is locked down, but \($0)", "sudo capturectl lockdown on")
        }
        if !open.isEmpty { return open }
        let count = Quantities.count(status.nodes.count, "node")
        return [.fine("lockdown", "the machine is locked down: only the daemon can open its \(count)")]
    }

    /// What is wrong with a node that is to be its group's.
    private func open(_ node: String) -> Finding? {
        guard let access = machine.access(to: node) else { return nil }
        if access.owner != 0, access.owner == daemon {
            return .problem(
                "nodes",
                "\(node) still belongs to the daemon, although the machine is not locked down",
                "sudo capturectl lockdown off"
            )
        }
        if node.hasPrefix(Lockdown.hidden) {
            return .problem(
                "nodes",
                "\(node) is still hidden, although the machine is not locked down",
                "sudo capturectl lockdown off"
            )
        }
        let wanted = node.hasPrefix("/dev/snd/") ? "audio" : "video"
        let owner = names.group(access.group)
        if owner != wanted || access.mode & 0o060 != 0o060 {
            return .problem(
                "nodes",
                "group \(wanted) cannot read and write \(node) (group \(owner), mode 0\(String(access.mode, radix: 8)))",
                "sudo udevadm trigger --action=add \(node)"
            )
        }
        return access.everyoneMay
            ? .advice("nodes", "every user may open \(node) without the daemon", "sudo chmod o= \(node)") : nil
    }

    /// Who captures past the daemon.
    ///
    /// - Parameter isSystem: Whether it is the system's daemon, known by its user; one on a session bus has its name alone.
    func others(isSystem: Bool) -> [Finding] {
        let holders = machine.holders(of: machine.lockdownNodes.map(\.path)).filter {
            isSystem ? $0.user != daemon : $0.user != daemon && $0.name != "captured"
        }
        if holders.isEmpty { return [.fine("holders", "no other visible program has a capture node open")] }
        return holders.map { holder in
            .advice(
                "holders",
                "\(Printable.text(holder.name)) (process \(holder.process) of \(names.user(holder.user))) has "
                    + "\(holder.node) open without the daemon",
                "kill \(holder.process)"
            )
        }
    }
}
