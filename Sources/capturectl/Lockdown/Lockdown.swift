import CaptureKit
import Glibc

/// Gives cameras and microphones to the daemon alone, and back: a rule of udev, put in its place and taken away.
///
/// Thread-bound; changing it is for root.
struct Lockdown {
    /// Where udev looks for an administrator's rules; behind 70-uaccess and 72-seat, before 73-seat-late.
    static let rule = "/etc/udev/rules.d/73-captured-lockdown.rules"
    /// The daemon's account.
    static let account = "captured"

    let machine: Machine
    var udev: any DeviceRules = Udev()
    /// The installed rule, which lies where it does nothing.
    var template = Lockdown.installedTemplate
    /// The daemon's uid, where there is one.
    var daemon = Accounts.user(named: Lockdown.account)

    /// Whether the rule is in its place.
    var isOn: Bool { machine.exists(Lockdown.rule) }

    /// How every node is.
    func status() -> LockdownStatus {
        LockdownStatus(
            isOn: isOn,
            nodes: machine.lockdownNodes.compactMap { node in
                machine.access(to: node.path).map { access in
                    NodeStatus(node: node, access: access, isAlone: daemon.map(access.isAlone) ?? false)
                }
            }
        )
    }

    /// Puts the rule in its place, and has every node that is there changed by it. Idempotent.
    ///
    /// - Returns: How the nodes are now: all of them the daemon's alone.
    /// - Throws: `.unreachable` when something is missing that it takes, `.inputOutput` with the node that stayed open.
    func turnOn() throws(CaptureError) -> LockdownStatus {
        guard daemon != nil else {
            throw CaptureError(
                .unreachable,
                "there is no user '\(Lockdown.account)' to give the nodes to; make it with 'systemd-sysusers'"
            )
        }
        try udev.check()
        try place(readTemplate())
        try udev.reload()
        var now = status()
        // The event of a video node makes one of its media node, which may come when the first have been dealt with.
        for _ in 0..<3 {
            // What the seat's user was given before would come to life again with the next change of the mode.
            for node in machine.lockdownNodes { try NodeAccess.forgetList(of: machine.root + node.path) }
            try udev.apply()
            now = status()
            if now.openNodes.isEmpty { break }
        }
        if let open = now.openNodes.first {
            throw CaptureError(
                .inputOutput,
                "the rule is in its place, but \(open.node.path) \(open.fault); "
                    + "does another rule of udev give it away? 'udevadm test $(udevadm info -q path \(open.node.path))'"
            )
        }
        return now
    }

    /// Takes the rule away, and has the nodes made what they are without it. Idempotent.
    ///
    /// - Throws: `.unreachable` when udev does not run, `.inputOutput` with the node that stayed the daemon's.
    func turnOff() throws(CaptureError) -> LockdownStatus {
        try udev.check()
        if unsafe unlink(machine.root + Lockdown.rule) != 0, errno != ENOENT { throw Lockdown.failure("remove", errno) }
        try udev.reload()
        try udev.apply()
        for node in machine.lockdownNodes where machine.access(to: node.path).map({ $0.owner == daemon }) == true {
            // udev changes the owner where a rule names one alone, and none does now.
            if unsafe chown(machine.root + node.path, 0, gid_t.max) != 0 {
                throw CaptureError(.inputOutput, "\(node.path) cannot be given back: \(Lockdown.text(errno))")
            }
        }
        return status()
    }

    private func readTemplate() throws(CaptureError) -> String {
        var facts = stat()
        guard unsafe stat(machine.root + template, &facts) == 0 else {
            throw CaptureError(.unreachable, "the rule \(template) is missing: captured is to be installed anew")
        }
        // It will run as root.
        guard facts.st_uid == 0 || facts.st_uid == geteuid(), facts.st_mode & 0o022 == 0 else {
            throw CaptureError(.notPermitted, "others than root may write \(template), so it is not used")
        }
        let text = machine.text(of: template, limit: 1 << 16)
        guard text.contains("LABEL=\"captured_lockdown_end\"") else {
            throw CaptureError(.badData, "\(template) is not the lockdown's rule: captured is to be installed anew")
        }
        return text + "\n"
    }

    /// Writes the rule beside its place and moves it there, so that udev never reads half of it.
    private func place(_ text: String) throws(CaptureError) {
        let target = machine.root + Lockdown.rule
        let folder = String(target[..<(target.lastIndex(of: "/") ?? target.startIndex)])
        if unsafe mkdir(folder, 0o755) != 0, errno != EEXIST { throw Lockdown.failure("make the folder of", errno) }
        let fresh = target + ".new"
        _ = unsafe unlink(fresh)
        let file = unsafe open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o644)
        guard file >= 0 else { throw Lockdown.failure("write", errno) }
        var bytes = text
        let count = bytes.withUTF8 { unsafe write(file, $0.baseAddress, $0.count) }
        let isWhole = count == bytes.utf8.count && fchmod(file, 0o644) == 0 && fsync(file) == 0
        let code = count >= 0 && count < bytes.utf8.count ? ENOSPC : errno
        close(file)
        guard isWhole, unsafe rename(fresh, target) == 0 else {
            let code = isWhole ? errno : code
            _ = unsafe unlink(fresh)
            throw Lockdown.failure("write", code)
        }
    }

    /// Below the prefix that this program was installed to.
    private static var installedTemplate: String {
        let own = Machine().link(at: "/proc/self/exe") ?? "/usr/bin/capturectl"
        let prefix = own.split(separator: "/").dropLast(2).map { "/" + $0 }.joined()
        return prefix + "/lib/captured/lockdown.rules"
    }

    private static func failure(_ action: String, _ code: Int32) -> CaptureError {
        CaptureError(.inputOutput, "cannot \(action) \(rule): \(text(code))", errno: code)
    }

    private static func text(_ code: Int32) -> String { unsafe String(cString: strerror(code)) }
}
