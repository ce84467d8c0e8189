import CaptureKit
import CaptureSystem
import Glibc

/// What the lockdown wants of the device manager and the service manager.
protocol LockdownTools {
    /// Makes sure that they are there.
    func check() throws(CaptureError)
    /// Has them read rules and settings anew.
    func reload() throws(CaptureError)
    /// Has the rules applied to every video, media and sound capture device that is there; returns when that is done.
    func apply() throws(CaptureError)
    /// Runs `captured-lockdown-nodes`.
    func nodes(_ action: String) throws(CaptureError)
    /// Has the running daemon see a folder of the machine's as its `/dev/snd`; what it has open stays open.
    func showDaemon(_ folder: String) throws(CaptureError)
    /// Has PipeWire find the microphones anew that are there now, for those who are logged in.
    func refreshSound()
}

/// udev by udevadm(8), systemd by systemctl(1). Thread-bound.
struct SystemTools: LockdownTools {
    /// What captured is installed below.
    let prefix: String
    private static let udevadm = "/usr/bin/udevadm"
    static let systemctl = "/usr/bin/systemctl"

    func check() throws(CaptureError) {
        guard unsafe access("/run/udev/control", F_OK) == 0, unsafe access(SystemTools.udevadm, X_OK) == 0 else {
            throw CaptureError(
                .unreachable,
                "udev does not run, but the lockdown is a udev rule; run: systemctl start systemd-udevd"
            )
        }
        guard unsafe access("/run/systemd/system", F_OK) == 0, unsafe access(SystemTools.systemctl, X_OK) == 0 else {
            throw CaptureError(.unreachable, "systemd does not run, but it must show the daemon its microphones")
        }
    }

    func reload() throws(CaptureError) {
        try run(SystemTools.udevadm, "control", "--reload")
        try run(SystemTools.systemctl, "daemon-reload")
    }

    func nodes(_ action: String) throws(CaptureError) { try run("\(prefix)/libexec/captured-lockdown-nodes", action) }

    func showDaemon(_ folder: String) throws(CaptureError) {
        try run(SystemTools.systemctl, "bind", "captured.service", folder, "/dev/snd")
    }

    func apply() throws(CaptureError) {
        try trigger(["video4linux", "media"], ["video*", "media*"])
        // Not the cards: sound servers would look for those anew.
        try trigger(["sound"], ["pcmC*D*c", "dsp*", "adsp*", "audio*"])
        try run(SystemTools.udevadm, "settle", "--timeout=60")
    }

    /// A session manager looks for a card's microphones once. It would go on to offer, and to prefer, one that is hidden.
    func refreshSound() {
        // A pattern: where none runs there is nothing to say.
        forUsers("try-restart", "wireplumber*.service")
    }

    private func trigger(_ subsystems: [String], _ names: [String]) throws(CaptureError) {
        let matches = subsystems.map { "--subsystem-match=\($0)" } + names.map { "--sysname-match=\($0)" }
        // As if they had just been plugged in: what their group is without the lockdown is decided then alone.
        try run(SystemTools.udevadm, ["trigger", "--action=add"] + matches)
    }

    private func run(_ program: String, _ arguments: String...) throws(CaptureError) { try run(program, arguments) }

    /// Runs a program to its end. Its output goes to standard error.
    func run(_ program: String, _ arguments: [String]) throws(CaptureError) {
        let command = "\(program) \(arguments.joined(separator: " "))"
        let child: Int32
        do throws(SystemError) {
            let nothing = try Descriptor.open("/dev/null", O_RDONLY)
            child = try ChildProcess.spawn(program, arguments, standardInput: nothing, inOwnSession: false)
        } catch {
            throw CaptureError(.internalFault, "cannot run \(command): \(error)")
        }
        let status = ChildProcess.reap(child)
        guard status == 0 else {
            let end = status & 0x7f == 0 ? "exited with \(status >> 8 & 0xff)" : "was killed"
            throw CaptureError(.inputOutput, "\(command) \(end)")
        }
    }
}
