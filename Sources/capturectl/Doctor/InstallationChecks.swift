import CaptureKit
import CaptureSystem

/// What can be seen of an installation without the daemon.
struct InstallationChecks {
    let machine: Machine
    var names = AccountNames()
    /// The system's daemon's uid.
    var daemon = UserDatabase.user(named: Lockdown.account).value?.number
    var lockdown: Lockdown { Lockdown(machine: machine, daemon: daemon) }

    /// The files of a system installation, and the account that the daemon runs as.
    func files() -> [Finding] {
        let shares = ["/usr/share", "/usr/local/share"]
        let units = [
            "/etc/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system", "/usr/local/lib/systemd/system",
        ]
        var findings: [Finding] = []
        func file(_ check: String, _ what: String, _ paths: [String], _ remedy: String = "sudo make install") {
            if let found = machine.first(of: paths) {
                findings.append(.fine(check, "\(what) is \(found)"))
            } else {
                findings.append(.problem(check, "\(what) is missing: looked for \(paths[0])", remedy))
            }
        }
        if let mask = machine.maskOfDaemon {
            findings.append(
                .problem(
                    "unit",
                    "the daemon's unit is masked by \(mask), so it never starts",
                    machine.unmaskingDaemon
                )
            )
        } else {
            file("unit", "the daemon's unit", units.map { $0 + "/captured.service" })
        }
        file(
            "activation",
            "the bus's service file",
            shares.map { $0 + "/dbus-1/system-services/org.capturekit.Capture1.service" }
        )
        let policies = ["/usr/share/dbus-1/system.d", "/etc/dbus-1/system.d", "/usr/local/share/dbus-1/system.d"]
        file("policy", "the bus's policy", policies.map { $0 + "/org.capturekit.Capture1.conf" })
        file("recorder-unit", "the recorders' unit", units.map { $0 + "/captured-recorder@.service" })
        if daemon != nil {
            findings.append(.fine("user", "the daemon's user 'captured' exists"))
        } else {
            findings.append(
                .problem("user", "there is no user 'captured' for the daemon to run as", "sudo systemd-sysusers")
            )
        }
        return findings
    }

    /// The recorders' sandbox.
    func landlock() -> Finding {
        let modules = machine.text(of: "/sys/kernel/security/lsm")
        if modules.split(separator: ",").contains("landlock") {
            return .fine("landlock", "the kernel can confine recorders with Landlock")
        }
        if modules.isEmpty {
            return .advice(
                "landlock",
                "cannot tell whether the kernel has Landlock",
                "sudo cat /sys/kernel/security/lsm"
            )
        }
        return .advice(
            "landlock",
            "the kernel runs without Landlock, so recorders lack one layer of their sandbox",
            "sudo sed -i 's/^GRUB_CMDLINE_LINUX=\"/&lsm=landlock,\(modules) /' /etc/default/grub && sudo update-grub  # then reboot"
        )
    }
}

extension Machine {
    /// The link that masks the daemon's unit.
    var maskOfDaemon: String? {
        ["/etc/systemd/system/captured.service", "/run/systemd/system/captured.service"].first {
            link(at: $0) == "/dev/null"
        }
    }

    /// The command that allows the daemon's unit again, and starts it.
    var unmaskingDaemon: String {
        let runtime = maskOfDaemon?.hasPrefix("/run/") == true ? " --runtime" : ""
        return "sudo systemctl unmask\(runtime) captured.service && sudo systemctl start captured"
    }
}
