import CaptureKit
import Foundation
import Testing

@testable import capturectl

/// A machine made of files in a folder.
final class FakeMachine {
    let root = NSTemporaryDirectory() + "doctor-\(UUID().uuidString)"
    var machine: Machine { Machine(root: root) }

    deinit {
        try? FileManager.default.removeItem(atPath: root)
    }

    func put(_ path: String, _ text: String = "", mode: Int = 0o660) throws {
        let whole = root + path
        let folder = URL(fileURLWithPath: whole).deletingLastPathComponent()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(fileURLWithPath: whole))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: whole)
    }

    func link(_ path: String, to target: String) throws {
        let whole = root + path
        let folder = URL(fileURLWithPath: whole).deletingLastPathComponent()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: whole, withDestinationPath: target)
    }

    /// - Parameter daemon: The daemon's uid.
    func checks(group: String = "video", daemon: UInt32? = 4_000_000) -> InstallationChecks {
        let names = AccountNames(user: { "user\($0)" }, group: { _ in group })
        return InstallationChecks(machine: machine, names: names, daemon: daemon)
    }
}

struct DoctorTests {
    @Test func `an installation without its files is told, each with a command`() {
        let findings = FakeMachine().checks(daemon: nil).files()
        #expect(findings.filter { $0.state == .problem }.count == findings.count)
        #expect(findings.allSatisfy { !$0.remedy.isEmpty })
        #expect(!findings.areWell)
    }

    @Test func `a whole installation is well`() throws {
        let fake = FakeMachine()
        try fake.put("/usr/lib/systemd/system/captured.service")
        try fake.put("/usr/lib/systemd/system/captured-recorder@.service")
        try fake.put("/usr/local/share/dbus-1/system-services/org.capturekit.Capture1.service")
        try fake.put("/etc/dbus-1/system.d/org.capturekit.Capture1.conf")
        let findings = fake.checks().files()
        #expect(findings.areWell)
        #expect(findings.allSatisfy { $0.state == .fine })
    }

    @Test func `a masked unit is a problem, with the command that unmasks it`() throws {
        let fake = FakeMachine()
        try fake.put("/usr/lib/systemd/system/captured.service")
        try fake.link("/run/systemd/system/captured.service", to: "/dev/null")
        let unit = try #require(fake.checks().files().first { $0.check == "unit" })
        #expect(unit.state == .problem)
        #expect(unit.remedy.hasPrefix("sudo systemctl unmask --runtime captured.service"))
    }

    @Test func `a desktop without dialogs is told what to install, and a session without a display is not asked`()
        async
    {
        var checks = DesktopChecks()
        checks.find = { () throws(CaptureError) in throw CaptureError(.nobodyToAsk, "no backend") }
        checks.variable = { _ in nil }
        #expect(await checks.run().isEmpty)
        checks.variable = { $0 == "DISPLAY" ? ":0" : nil }
        let found = await checks.run()
        #expect(found.map(\.state) == [.advice])
        #expect(found.first?.remedy.contains("install xdg-desktop-portal-gtk") == true)
    }

    @Test func `a node that the daemon's group cannot open is a problem, one that all can open is advice`() throws {
        let fake = FakeMachine()
        try fake.put("/dev/video0", mode: 0o600)
        func states(group: String = "video") -> [Finding.State] {
            fake.checks(group: group).nodes().filter { $0.check == "nodes" }.map(\.state)
        }
        #expect(states() == [.problem])
        try fake.put("/dev/video0", mode: 0o666)
        #expect(states() == [.advice])
        try fake.put("/dev/video0", mode: 0o660)
        #expect(states() == [.fine])
        #expect(states(group: "root") == [.problem])
    }

    @Test func `capture nodes alone are looked at`() throws {
        let fake = FakeMachine()
        for path in ["/dev/video0", "/dev/video-dec0", "/dev/v4l", "/dev/snd/pcmC0D0c", "/dev/snd/pcmC0D0p"] {
            try fake.put(path)
        }
        #expect(fake.machine.captureNodes == ["/dev/video0", "/dev/snd/pcmC0D0c"])
    }

    @Test func `who holds a node past the daemon is named`() throws {
        let fake = FakeMachine()
        try fake.put("/dev/video0")
        for (process, name, user) in [(10, "cheese", 1000), (11, "captured", 990)] {
            try fake.put("/proc/\(process)/comm", name + "\n")
            try fake.put("/proc/\(process)/status", "Name:\t\(name)\nUid:\t\(user)\t0\t0\t0\n")
            try fake.link("/proc/\(process)/exe", to: "/usr/bin/\(name)")
            try fake.link("/proc/\(process)/fd/3", to: "/dev/video0")
            try fake.link("/proc/\(process)/fd/4", to: "/dev/video0")
        }
        let cheese = NodeHolder(
            node: "/dev/video0",
            process: 10,
            user: 1000,
            name: "cheese",
            program: "/usr/bin/cheese"
        )
        #expect(fake.machine.holders(of: ["/dev/video0"]).first == cheese)
        #expect(fake.checks(daemon: 990).others(isSystem: true).map(\.remedy) == ["kill 10"])
        // A name is no proof: it is the system's daemon by its user.
        #expect(fake.checks(daemon: 7).others(isSystem: true).map(\.remedy) == ["kill 10", "kill 11"])
        #expect(fake.checks(daemon: 7).others(isSystem: false).map(\.remedy) == ["kill 10"])
    }

    @Test func `a machine is told to be advisory, locked down, or locked down in part`() throws {
        let fake = FakeMachine()
        try fake.put("/dev/video0", mode: 0o660)
        let checks = fake.checks(daemon: getuid())
        func lockdown() -> [Finding] { checks.nodes().filter { $0.check == "lockdown" } }
        #expect(lockdown().map(\.state) == [.advice])
        #expect(lockdown().first?.remedy.hasPrefix("sudo capturectl lockdown on") == true)
        for part in [Lockdown.rule, Lockdown.setting] { try fake.put(part.place, part.mark) }
        #expect(lockdown().map(\.state) == [.problem])
        #expect(lockdown().first?.text.contains("/dev/video0 is open to") == true)
        try fake.put("/dev/video0", mode: 0o600)
        #expect(lockdown().map(\.state) == [.fine])
    }

    @Test func `a store that is not usable and a fault in the configuration are problems`() {
        let checks = DaemonChecks(isSystem: true, machine: Machine(root: "/nowhere"))
        var health = DaemonHealth()
        health.storeFault = "it is corrupt"
        health.stateDirectory = "/var/lib/captured"
        health.configurationProblems = ["/etc/captured/captured.conf:3: unknown key"]
        health.recorder = "units of systemd, by the socket /run/captured-recorder.socket"
        health.agents = 0
        let findings = checks.judge(health)
        #expect(findings.filter { $0.state == .problem }.map(\.check) == ["store", "configuration", "recorder"])
        #expect(findings.first { $0.check == "configuration" }?.remedy.contains("/etc/captured/captured.conf") == true)
        #expect(findings.first { $0.check == "recorder" }?.text.contains("/run/captured-recorder.socket") == true)
        #expect(findings.first { $0.check == "agent" }?.remedy == "capturectl agent")
        #expect(findings.json["healthy"] == JSON(false))
    }

    @Test func `a policy that cannot be understood is a problem, and so is a rule that counts as nothing`() {
        let checks = DaemonChecks(isSystem: true, machine: Machine(root: "/nowhere"))
        var health = DaemonHealth()
        health.policyRules = 1
        health.policyFaults = [
            "/etc/captured/policy.d/a.conf:3: 'camra' is no value for Service=",
            "/etc/captured/policy.d/b.conf: can be written by others than its owner",
        ]
        health.policyProblems = ["/etc/captured/policy.d/c.conf:1: the rule has no effect: it allows too much"]
        let findings = checks.judge(health).filter { $0.check == "policy" }
        #expect(findings.map(\.state) == [.problem, .problem, .problem])
        #expect(findings[0].text.contains("every start is refused"))
        #expect(findings[0].text.contains("a.conf:3: 'camra'"))
        #expect(findings[0].remedy == "sudo nano '/etc/captured/policy.d/a.conf' && sudo systemctl reload captured")
        #expect(
            findings[1].remedy.hasPrefix(
                "sudo less '/etc/captured/policy.d/b.conf' && sudo chown root: '/etc/captured/policy.d/b.conf' && sudo chmod go-w "
            )
        )
        #expect(!findings[2].text.contains("every start"))
        #expect(HealthPresentation.fault(health)?.contains("policy") == true)
        health = DaemonHealth()
        health.policyRules = 2
        let well = checks.judge(health).filter { $0.check == "policy" }
        #expect(well.map(\.state) == [.fine])
        #expect(well.first?.text.contains("2 rules") == true)
    }

    @Test(
        arguments: [
            ("chmod 0600 '/s/a.sqlite'", "sudo chmod 0600 '/s/a.sqlite'"), ("chown 990 '/s'", "sudo chown 990 '/s'"),
            ("mv '/s/a' '/s/a.damaged'", "sudo mv '/s/a' '/s/a.damaged'  # every question is asked again"),
            ("make install", "sudo make install  # in the newer captured's sources; then start it anew"),
            ("", "df -h '/s'; findmnt -T '/s'  # is it full, or mounted read-only?"),
        ]
    )
    func `a store is mended by the daemon's own word, and moved away when it is damaged alone`(
        _ word: String,
        _ remedy: String
    ) {
        var health = DaemonHealth()
        health.storeFault = "it is not as it should be"
        health.storeRemedy = word
        health.stateDirectory = "/s"
        let machine = Machine(root: "/nowhere")
        let system = DaemonChecks(isSystem: true, machine: machine).judge(health)
        #expect(system.first { $0.check == "store" }?.remedy == remedy)
        let own = DaemonChecks(isSystem: false, machine: machine).judge(health)
        #expect(own.first { $0.check == "store" }?.remedy == remedy.replacing("sudo ", with: ""))
    }

    @Test func `consent that cannot be looked at is told with what mends that`() {
        let checks = DaemonChecks(isSystem: true, machine: Machine(root: "/nowhere"))
        var health = DaemonHealth()
        health.storeFault = "mode 0644"
        health.storeRemedy = "chmod 0600 '/s/a.sqlite'"
        func remedy(_ code: CaptureError.Code, _ message: String) -> String {
            checks.consentFailure(CaptureError(code, message), health).remedy
        }
        #expect(remedy(.inputOutput, "the store of answers has mode 0644") == "sudo chmod 0600 '/s/a.sqlite'")
        #expect(remedy(.notPermitted, "/proc/7/exe cannot be read").contains("systemctl restart captured"))
        #expect(remedy(.notPermitted, "it is in the system unit cron.service").hasPrefix("systemd-run --user --scope "))
        #expect(remedy(.unreachable, "captured went away").hasPrefix("sudo systemctl restart captured"))
        #expect(remedy(.internalFault, "something else") == "journalctl -u captured -n 20")
    }
}
