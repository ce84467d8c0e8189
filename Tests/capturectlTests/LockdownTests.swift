import CaptureKit
import Foundation
import Testing

@testable import capturectl

/// Managers that do to the nodes what the test says.
private final class FakeTools: LockdownTools {
    var calls: [String] = []
    var isThere = true
    let applied: () throws -> Void

    init(applied: @escaping () throws -> Void = {}) {
        self.applied = applied
    }

    func check() throws(CaptureError) {
        if !isThere { throw CaptureError(.unreachable, "udev does not run here") }
    }
    func reload() throws(CaptureError) { calls.append("reload") }
    func nodes(_ action: String) throws(CaptureError) { calls.append(action) }
    func showDaemon(_ folder: String) throws(CaptureError) { calls.append("show \(folder)") }
    func refreshSound() { calls.append("refresh") }
    func apply() throws(CaptureError) {
        calls.append("apply")
        do {
            try applied()
        } catch {
            throw CaptureError(.internalFault, "\(error)")
        }
    }
}

struct LockdownTests {
    private let fake = FakeMachine()
    private let templates = "/usr/lib/captured"

    /// - Parameter isHidden: Whether the microphone is where the lockdown has it.
    private func put(mode: Int, isHidden: Bool = false) throws {
        let (here, there) = isHidden ? (Lockdown.hidden, "/dev/snd") : ("/dev/snd", Lockdown.hidden)
        try fake.put("/dev/video0", mode: mode)
        try fake.put("\(here)/pcmC0D0c", mode: mode)
        try? FileManager.default.removeItem(atPath: "\(fake.root)\(there)/pcmC0D0c")
    }

    private func lockdown(_ udev: FakeTools) -> Lockdown {
        // What the test makes is its own user's, who stands for the daemon's.
        Lockdown(machine: fake.machine, tools: udev, templates: templates, daemon: getuid())
    }

    private func installed() throws {
        try fake.put("\(templates)/lockdown.rules", "LABEL=\"captured_lockdown_end\"\n", mode: 0o644)
        try fake.put("\(templates)/lockdown.conf", "BindPaths=/dev/captured/snd:/dev/snd\n", mode: 0o644)
        try fake.put("/etc/udev/rules.d/99-other.rules", mode: 0o644)
        try fake.put("/etc/systemd/system/other.service", mode: 0o644)
    }

    @Test func `turned on, the rule is there before udev applies it, and the nodes are the daemon's alone`() throws {
        try installed()
        try put(mode: 0o660)
        let udev = FakeTools {
            for part in [Lockdown.rule, Lockdown.setting] {
                let installed = "\(self.templates)/\(part.template)"
                #expect(self.fake.machine.text(of: part.place) == self.fake.machine.text(of: installed))
            }
            try self.put(mode: 0o600, isHidden: true)
        }
        #expect(lockdown(udev).status().text.hasPrefix("not locked down: consent is advisory"))
        let status = try lockdown(udev).turnOn()
        #expect(status.isOn && status.isWhole)
        #expect(status.nodes.count == 2)
        let turn = ["reload", "prepare", "hide", "apply"]
        #expect(udev.calls == turn + ["refresh"])
        #expect(fake.machine.names(in: "/etc/udev/rules.d") == ["73-captured-lockdown.rules", "99-other.rules"])
        // Again, to the same end, and sound is not interrupted.
        #expect(try lockdown(udev).turnOn().isWhole)
        #expect(udev.calls == turn + ["refresh"] + turn)
    }

    @Test func `a node that another rule gives away is an error that names it, never taken for locked`() throws {
        try installed()
        try put(mode: 0o660)
        let udev = FakeTools { try self.fake.put("/dev/video0", mode: 0o600) }
        let error = #expect(throws: CaptureError.self) { try lockdown(udev).turnOn() }
        #expect(error?.code == .inputOutput)
        #expect(error?.message.contains("/dev/snd/pcmC0D0c is open to ") == true)
        #expect(udev.calls.filter { $0 == "apply" }.count == 3)
        #expect(!lockdown(udev).status().isWhole)
        #expect(lockdown(udev).status().text.contains("locked down in part: 1 node of 2"))
    }

    @Test func `a microphone in sight, a part that is missing or another version's is half a lockdown, and mended`()
        throws
    {
        try installed()
        try put(mode: 0o660)
        let udev = FakeTools { try self.put(mode: 0o600, isHidden: true) }
        _ = try lockdown(udev).turnOn()
        func check(_ text: String, spoil: () throws -> Void) throws {
            try spoil()
            #expect(!lockdown(udev).status().isWhole)
            let now = lockdown(udev).status()
            #expect((now.faults + now.openNodes.map(\.fault)).contains { $0.contains(text) })
            #expect(try lockdown(udev).mend().isWhole)
        }
        try check("PipeWire drops its card") { try put(mode: 0o600) }
        try check("lockdown.conf is missing") { _ = unsafe unlink(fake.root + Lockdown.setting.place) }
        try check("another version") {
            try fake.put(Lockdown.rule.place, "LABEL=\"captured_lockdown_end\"\n# older\n", mode: 0o644)
        }
        let calls = udev.calls.count
        _ = try lockdown(udev).mend()
        #expect(udev.calls.count == calls)
    }

    @Test func `turned off, the rule is gone before udev applies what is left; twice is once`() throws {
        try installed()
        try put(mode: 0o600, isHidden: true)
        try fake.put(Lockdown.rule.place, mode: 0o644)
        let udev = FakeTools {
            #expect(!self.fake.machine.exists(Lockdown.rule.place))
            try self.put(mode: 0o660)
        }
        // Giving a node back to root takes root: as another user there is no daemon whose it could be.
        let daemon = getuid() == 0 ? 0 : 4_000_000 as UInt32
        let lockdown = Lockdown(machine: fake.machine, tools: udev, templates: templates, daemon: daemon)
        for _ in 0..<2 {
            let status = try lockdown.turnOff()
            #expect(!status.isOn && status.isWhole)
        }
        let turn = ["reload", "restore", "clear", "apply"]
        #expect(udev.calls == turn + ["refresh"] + turn)
        #expect(fake.machine.names(in: "/etc/udev/rules.d") == ["99-other.rules"])
    }

    @Test func `nothing is changed where udev, the rule or the daemon's user is missing, or others write the rule`()
        throws
    {
        let udev = FakeTools()
        func refusal(_ lockdown: Lockdown) -> CaptureError.Code? {
            do throws(CaptureError) {
                _ = try lockdown.turnOn()
                return nil
            } catch {
                return error.code
            }
        }
        #expect(refusal(lockdown(udev)) == .unreachable)
        try installed()
        let nobodys = Lockdown(machine: fake.machine, tools: udev, templates: templates, daemon: nil)
        #expect(refusal(nobodys) == .unreachable)
        try fake.put("\(templates)/lockdown.rules", "LABEL=\"captured_lockdown_end\"\n", mode: 0o666)
        #expect(refusal(lockdown(udev)) == .notPermitted)
        try fake.put("\(templates)/lockdown.rules", "something else\n", mode: 0o644)
        #expect(refusal(lockdown(udev)) == .badData)
        udev.isThere = false
        #expect(refusal(lockdown(udev)) == .unreachable)
        #expect(udev.calls == [])
        #expect(!fake.machine.exists(Lockdown.rule.place) && !fake.machine.exists(Lockdown.setting.place))
    }

    @Test func `the nodes are those of cameras and microphones; codecs and outputs are left alone`() throws {
        func video(_ number: Int, _ capabilities: String, place: String = "../../devices/pci/video4linux") throws {
            try fake.put("/dev/video\(number)")
            try fake.put("/run/udev/data/c81:\(number)", "S:v4l\nE:ID_V4L_CAPABILITIES=\(capabilities)\nG:uaccess\n")
            try fake.put("/sys/devices\(place.dropFirst(13))/video\(number)/dev", "81:\(number)\n")
            try fake.link("/sys/class/video4linux/video\(number)", to: "\(place)/video\(number)")
        }
        try video(0, ":capture:")
        try video(1, ":")
        try video(2, ":video_output:")
        try video(3, ":capture:video_output:")
        try video(4, ":capture:video_output:", place: "../../devices/virtual/video4linux")
        try video(5, "")
        try video(7, ":video_output:", place: "../../devices/virtual/video4linux")
        try video(6, ":", place: "../../devices/codec/video4linux")
        for (number, place) in [(0, "pci"), (1, "codec"), (2, "unknown")] {
            try fake.put("/dev/media\(number)")
            try fake.put("/sys/devices/\(place)/media\(number)/dev")
            try fake.link("/sys/bus/media/devices/media\(number)", to: "../../../devices/\(place)/media\(number)")
        }
        for node in ["snd/pcmC0D0c", "snd/pcmC0D0p", "snd/controlC0", "dsp", "dsp1", "mixer", "audio"] {
            try fake.put("/dev/" + node)
        }
        let nodes = fake.machine.lockdownNodes
        #expect(
            nodes.filter { $0.kind == .camera }.map(\.path) == [
                "/dev/video0", "/dev/video4", "/dev/video5", "/dev/video7",
            ]
        )
        #expect(nodes.filter { $0.kind == .media }.map(\.path) == ["/dev/media0", "/dev/media2"])
        let microphones = nodes.filter { $0.kind == .microphone }.map(\.path)
        #expect(microphones == ["/dev/snd/pcmC0D0c", "/dev/dsp", "/dev/dsp1", "/dev/audio"])
    }

    @Test func `who may open a node is told by group, by everyone and by the list of who sits at the machine`() throws {
        let names = AccountNames(user: { "u\($0)" }, group: { "g\($0)" })
        try fake.put("/dev/video0")
        var access = try #require(fake.machine.access(to: "/dev/video0"))
        access.owner = 0
        access.group = 44
        access.groupMay = true
        access.everyoneMay = false
        access.listedUsers = [1000]
        let node = CaptureNode(path: "/dev/video0", kind: .camera)
        let status = NodeStatus(node: node, access: access, isAlone: access.isAlone(of: 990), names: names)
        #expect(status.openTo == ["group g44", "user u1000"])
        let holder = NodeHolder(node: "/dev/video0", process: 12, user: 1000, name: "che\u{1b}ese", program: "")
        let all = LockdownStatus(isOn: true, nodes: [status])
        let text = LockdownPresentation.text(all, [holder], seesAll: false)
        #expect(text.contains("/dev/video0  camera  group g44, user u1000  che?ese (12, u1000)"))
        #expect(text.contains("your own processes"))
        #expect(LockdownPresentation.json(all, [holder], seesAll: false)["whole"] == JSON(false))
        access.owner = 990
        access.groupMay = false
        #expect(!access.isAlone(of: 990))
        access.listedUsers = []
        #expect(access.isAlone(of: 990))
    }

    @Test
    func `what stops is said with how it captures afterwards, and who keeps a node with the command that ends it`()
        throws
    {
        try put(mode: 0o660)
        for (process, name) in [(7, "wireplumber"), (8, "motion"), (9, "captured")] {
            try fake.put("/proc/\(process)/comm", name)
            try fake.put("/proc/\(process)/status", "Uid:\t\(process == 9 ? 990 : 1000)\t0\n")
            try fake.link("/proc/\(process)/fd/5", to: process == 7 ? "/dev/null" : "/dev/snd/pcmC0D0c")
        }
        let names = AccountNames(user: { "u\($0)" }, group: { "g\($0)" })
        func told(_ isOn: Bool) -> LockdownImpact {
            let states = Bridge.installable.map {
                BridgeState(bridge: $0, isInstalled: isOn, isOn: isOn, isByLockdown: false, place: "")
            }
            let programs = ProgramPresentation(survey: ProgramSurvey(), states: states, isPulsePipeWire: true)
            return LockdownImpact(fake.machine, daemon: 990, programs: programs, names: names)
        }
        let bridged = told(true).text
        #expect(bridged.contains("plays, and its programs capture by the PipeWire bridge"))
        #expect(bridged.contains("captures by V4L2, ALSA, when started again"))
        let impact = told(false)
        #expect(impact.text.contains("PipeWire, WirePlumber and PulseAudio lose cameras and microphones"))
        let rows = impact.text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        func row(_ name: String) -> [String] { rows.first { $0.starts(with: [name, "u1000", "cameras"]) } ?? [] }
        #expect(row("wireplumber").suffix(2) == ["don't", "capture"])
        #expect(row("motion").suffix(2) == ["doesn't", "capture"])
        #expect(impact.holders.map(\.process) == [8])
        #expect(impact.keeping(names: names).contains("motion   u1000  /dev/snd/pcmC0D0c"))
        #expect(impact.keeping(names: names).hasSuffix("kill 8"))
    }

    @Test(arguments: ["on", "off", "status"])
    func `a session bus has no lockdown`(_ command: String) async {
        #expect(await Program.run(["lockdown", command, "--bus", "session"]) == 64)
    }
}
