import CaptureKit
import Glibc

/// What the lockdown wants of the device manager.
protocol DeviceRules {
    /// Makes sure that it is there.
    func check() throws(CaptureError)
    /// Has it read its rules anew.
    func reload() throws(CaptureError)
    /// Has it apply them to every video, media and sound capture device that is there; returns when that is done.
    func apply() throws(CaptureError)
}

/// udev, by udevadm(8). Thread-bound.
struct Udev: DeviceRules {
    private static let program = "/usr/bin/udevadm"

    func check() throws(CaptureError) {
        guard unsafe access("/run/udev/control", F_OK) == 0, unsafe access(Udev.program, X_OK) == 0 else {
            throw CaptureError(
                .unreachable,
                "udev does not run here, and the lockdown is a rule of udev's: systemctl start systemd-udevd"
            )
        }
    }

    func reload() throws(CaptureError) { try run("control", "--reload") }

    func apply() throws(CaptureError) {
        try trigger(["video4linux", "media"], ["video*", "media*"])
        // Not the cards: sound servers would look for those anew.
        try trigger(["sound"], ["pcmC*D*c", "dsp*", "adsp*", "audio*"])
        try run("settle", "--timeout=60")
    }

    private func trigger(_ subsystems: [String], _ names: [String]) throws(CaptureError) {
        let matches = subsystems.map { "--subsystem-match=\($0)" } + names.map { "--sysname-match=\($0)" }
        // As if they had just been plugged in: what their group is without the lockdown is decided then alone.
        try run(["trigger", "--action=add"] + matches)
    }

    private func run(_ arguments: String...) throws(CaptureError) { try run(arguments) }

    /// Runs it to its end; what it says goes where this program's messages go.
    private func run(_ arguments: [String]) throws(CaptureError) {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO)
        var words = unsafe ([Udev.program] + arguments).map { unsafe strdup($0) } + [nil]
        defer { unsafe words.forEach { unsafe free($0) } }
        var child = pid_t()
        let code = unsafe posix_spawn(&child, Udev.program, &actions, nil, &words, environ)
        let command = "udevadm \(arguments.joined(separator: " "))"
        guard code == 0 else {
            throw CaptureError(.internalFault, "\(command) could not be run: \(unsafe String(cString: strerror(code)))")
        }
        var status: Int32 = 0
        while unsafe waitpid(child, &status, 0) == -1 {
            guard errno == EINTR else { throw CaptureError(.internalFault, "\(command) was lost") }
        }
        guard status == 0 else {
            let end = status & 0x7f == 0 ? "exited with \(status >> 8 & 0xff)" : "was killed"
            throw CaptureError(.inputOutput, "\(command) \(end)")
        }
    }
}
