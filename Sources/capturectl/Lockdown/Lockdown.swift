import CaptureKit
import CaptureSystem
import Glibc

/// Turns the lockdown on and off: installs or removes a udev rule and a setting of the daemon's service, so that only the
/// daemon can open cameras and microphones.
///
/// Thread-bound; changing it is for root.
struct Lockdown {
    /// A file that takes effect only when it is copied from its folder to its place.
    struct Part {
        /// Below `lib/captured` of the prefix.
        let template: String
        let place: String
        /// A text that the file must contain to be trusted.
        let mark: String
    }

    /// Where udev looks for an administrator's rules; behind 70-uaccess and 72-seat, before 73-seat-late.
    static let rule = Part(
        template: "lockdown.rules",
        place: "/etc/udev/rules.d/73-captured-lockdown.rules",
        mark: "LABEL=\"captured_lockdown_end\""
    )
    /// Has the daemon find sound in the folder of hidden nodes.
    static let setting = Part(
        template: "lockdown.conf",
        place: "/etc/systemd/system/captured.service.d/lockdown.conf",
        mark: "BindPaths=\(hidden):/dev/snd"
    )
    /// Where the capture nodes of sound are meanwhile.
    static let hidden = "/dev/captured/snd"
    /// The daemon's account.
    static let account = "captured"

    let machine: Machine
    var tools: any LockdownTools = SystemTools(prefix: Lockdown.prefix)
    /// Where the templates lie.
    var templates = Lockdown.prefix + "/lib/captured"
    /// The daemon's uid, where there is one.
    var daemon = UserDatabase.user(named: Lockdown.account).value?.number

    /// Whether the rule is in its place.
    var isOn: Bool { machine.exists(Lockdown.rule.place) }

    /// The state of every node, and what else does not match the rule's presence.
    func status() -> LockdownStatus {
        LockdownStatus(
            isOn: isOn,
            nodes: machine.lockdownNodes.compactMap { node in
                machine.access(to: node.path).map { access in
                    NodeStatus(
                        node: node,
                        access: access,
                        isAlone: !node.isInSight && (daemon.map(access.isAlone) ?? false)
                    )
                }
            },
            faults: faults()
        )
    }

    private func faults() -> [String] {
        let setting = Lockdown.setting
        guard isOn else { return machine.exists(setting.place) ? ["\(setting.place) is still there"] : [] }
        let parts = [Lockdown.rule, setting].compactMap { part -> String? in
            let text = machine.text(of: part.place, limit: 1 << 16)
            if text.isEmpty { return "\(part.place) is missing" }
            let installed = machine.text(of: "\(templates)/\(part.template)", limit: 1 << 16)
            return installed.isEmpty || text == installed ? nil : "\(part.place) is from another version of captured"
        }
        return parts + (seesHidden() == false ? ["the running daemon does not see the hidden microphones"] : [])
    }

    /// Whether the running daemon has the folder of hidden nodes as its `/dev/snd`; `nil` where it does not run, or this
    /// user may not look.
    private func seesHidden() -> Bool? {
        guard let running = machine.processes(named: ["captured"]).first(where: { $0.user == daemon }),
            let own = machine.identity(of: "/proc/\(running.process)/root/dev/snd")
        else { return nil }
        return own == machine.identity(of: Lockdown.hidden)
    }

    /// Installs rule and setting, and applies them to every present node. Idempotent; the daemon's recordings continue.
    ///
    /// - Returns: The state of the nodes, which only the daemon can open now.
    /// - Throws: `.unreachable` if something that it needs is missing, `.inputOutput` with the node that stayed open.
    func turnOn() throws(CaptureError) -> LockdownStatus {
        guard daemon != nil else {
            throw CaptureError(
                .unreachable,
                "there is no user '\(Lockdown.account)' to give the nodes to; create it with 'systemd-sysusers'"
            )
        }
        try tools.check()
        let (rule, setting) = (try read(Lockdown.rule), try read(Lockdown.setting))
        let wasLocked = isOn && status().openNodes.isEmpty
        try file(Lockdown.setting).write(Array(setting.utf8))
        try file(Lockdown.rule).write(Array(rule.utf8))
        try tools.reload()
        // The daemon has its own names of all nodes before the others lose theirs.
        try tools.nodes("prepare")
        if seesHidden() == false { try tools.showDaemon(Lockdown.hidden) }
        try tools.nodes("hide")
        var now = status()
        // The event of a video node makes one of its media node, which may come when the first have been dealt with.
        for _ in 0..<3 {
            // The next change of the mode would revive access that the seat's user was given before.
            for node in machine.lockdownNodes { try NodeAccess.forgetList(of: machine.root + node.path) }
            try tools.apply()
            now = status()
            if now.openNodes.isEmpty { break }
        }
        if let open = now.openNodes.first {
            throw CaptureError(
                .inputOutput,
                "the rule is in its place, but \(open.node.path) \(open.fault); "
                    + "does another udev rule change it? See 'udevadm test $(udevadm info -q path \(open.node.path))'"
            )
        }
        if let fault = now.faults.first { throw CaptureError(.inputOutput, "the rule is in its place, but \(fault)") }
        if !wasLocked { tools.refreshSound() }
        return now
    }

    /// Removes both, and restores the nodes. Idempotent.
    ///
    /// - Throws: `.unreachable` when udev does not run, `.inputOutput` with the node that stayed the daemon's.
    func turnOff() throws(CaptureError) -> LockdownStatus {
        try tools.check()
        let wasLocked = isOn || machine.lockdownNodes.contains { $0.path.hasPrefix(Lockdown.hidden) }
        for part in [Lockdown.rule, Lockdown.setting] { try file(part).remove() }
        try tools.reload()
        try tools.nodes("restore")
        if seesHidden() == true { try tools.showDaemon("/dev/snd") }
        try tools.nodes("clear")
        try tools.apply()
        for node in machine.lockdownNodes where machine.access(to: node.path).map({ $0.owner == daemon }) == true {
            // udev changes the owner where a rule names one alone, and none does now.
            if unsafe chown(machine.root + node.path, 0, gid_t.max) != 0 {
                throw CaptureError(.inputOutput, "\(node.path) cannot be given back: \(SystemError.text(of: errno))")
            }
        }
        if wasLocked { tools.refreshSound() }
        return status()
    }

    /// Completes a lockdown that is half on or half off. Does nothing otherwise.
    func mend() throws(CaptureError) -> LockdownStatus {
        let now = status()
        if now.isWhole { return now }
        return now.isOn ? try turnOn() : try turnOff()
    }

    private func file(_ part: Part) -> SystemFile { SystemFile(machine: machine, path: part.place) }

    private func read(_ part: Part) throws(CaptureError) -> String {
        let template = "\(templates)/\(part.template)"
        var facts = stat()
        guard unsafe stat(machine.root + template, &facts) == 0 else {
            throw CaptureError(.unreachable, "\(template) is missing; reinstall captured")
        }
        // It will run as root.
        guard facts.st_uid == 0 || facts.st_uid == geteuid(), facts.st_mode & 0o022 == 0 else {
            throw CaptureError(.notPermitted, "\(template) can be written by others than root, so it is not used")
        }
        let text = machine.text(of: template, limit: 1 << 16)
        guard text.contains(part.mark) else {
            throw CaptureError(.badData, "\(template) is not the lockdown's file; reinstall captured")
        }
        return text + "\n"
    }

    /// What this program was installed below.
    static var prefix: String {
        let own = Machine().link(at: "/proc/self/exe") ?? "/usr/bin/capturectl"
        return own.split(separator: "/").dropLast(2).map { "/" + $0 }.joined()
    }
}
