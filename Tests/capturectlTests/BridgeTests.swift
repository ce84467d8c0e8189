import CaptureKit
import Foundation
import Testing

@testable import capturectl

/// What is wanted of the system, written down. A library loads if its file says so.
private final class FakeBridgeTools: BridgeTools {
    var calls: [String] = []
    var fails = false
    let root: String

    init(_ root: String) { self.root = root }

    func tryLoading(_ library: String) throws(CaptureError) {
        guard Machine().text(of: library) == "loads" else { throw CaptureError(.badData, "\(library) does not load") }
    }
    func enable(_ unit: String) throws(CaptureError) {
        if fails { throw CaptureError(.inputOutput, "systemctl failed") }
        calls.append("enable \(unit)")
        try? FileManager.default.createDirectory(
            atPath: root + "/etc/systemd/user/default.target.wants",
            withIntermediateDirectories: true
        )
        try? FileManager.default.createSymbolicLink(
            atPath: root + "/etc/systemd/user/default.target.wants/\(unit)",
            withDestinationPath: "/usr/lib/systemd/user/\(unit)"
        )
    }
    func disable(_ unit: String) throws(CaptureError) {
        calls.append("disable \(unit)")
        try? FileManager.default.removeItem(atPath: root + "/etc/systemd/user/default.target.wants/\(unit)")
    }
}

struct PreloadListTests {
    @Test func `the libraries are those that the loader reads`() {
        let text = "# /no.so\n/a.so:/b.so\t/c.so # /no.so\n\n /d.so"
        #expect(PreloadList(Array(text.utf8)).libraries == ["/a.so", "/b.so", "/c.so", "/d.so"])
        #expect(PreloadList([]).libraries.isEmpty)
        #expect(PreloadList([0xff, 0x2f, 0x0a]).libraries.count == 1)
    }

    @Test(arguments: ["", "/a.so", "/a.so\n", "# mine\n\n/a.so:/b.so", "\n\n", "\u{fe}\n"])
    func `what was added is taken out to the byte`(_ text: String) {
        let before = PreloadList(Array(text.utf8))
        var list = before
        list.add("/x.so")
        #expect(list.libraries == before.libraries + ["/x.so"])
        var more = list
        more.add("/y.so")
        let isOut = list.remove("/x.so", wasOpen: before.isOpen)
        #expect(isOut && list == before)
        let isThere = list.remove("/x.so")
        #expect(!isThere)
        // What came behind it stays a line of its own.
        more.remove("/x.so", wasOpen: before.isOpen)
        #expect(more.libraries == before.libraries + ["/y.so"])
    }

    @Test(
        arguments: [
            ("/a.so /x.so:/b.so\n", "/a.so :/b.so\n"), ("/x.so\n/a.so\n/x.so", "/a.so\n"),
            ("/x.so # why\n", " # why\n"),
            ("# /x.so\n/x.so.old\n", "# /x.so\n/x.so.old\n"), (" /x.so :\n", ""), ("/x.so /x.so\n/a.so\n", "/a.so\n"),
        ]
    )
    func `it is taken out of any line, and nothing else is`(_ text: String, _ left: String) {
        var list = PreloadList(Array(text.utf8))
        list.remove("/x.so")
        #expect(String(decoding: list.bytes, as: UTF8.self) == left)
    }

    @Test func `a path with what separates cannot be named`() {
        #expect(PreloadList.canName("/usr/lib/x.so"))
        for path in ["/a b.so", "/a:b.so", "/a#b.so", "/a\nb.so", "/$LIB/b.so", "a.so"] {
            #expect(!PreloadList.canName(path))
        }
    }

    @Test func `a record is read as it was written, and nonsense is nothing`() {
        var record = BridgeRecord()
        #expect(record.isEmpty)
        (record.library, record.madePreloadList, record.alsa, record.pipeWire) = ("/x.so", true, "abc", true)
        record.wasOpen = true
        #expect(BridgeRecord(record.text) == record)
        #expect(BridgeRecord("v4l2 x.so\nv4l2\nalsa\nlater thing\n\u{0}\n").isEmpty)
    }
}

struct BridgeTests {
    private let fake = FakeMachine()
    private let library = "/usr/lib/captured/libcaptured-v4l2.so"
    private let plugin = "/usr/lib/x86_64-linux-gnu/alsa-lib/libasound_module_pcm_captured.so"
    private let template = "/usr/share/alsa/alsa.conf.d/99-zz-captured-default.conf"

    private func bridges(_ tools: FakeBridgeTools? = nil) -> Bridges {
        Bridges(machine: fake.machine, tools: tools ?? FakeBridgeTools(fake.root), prefix: "/usr")
    }

    private func install(_ bridges: Set<Bridge> = Set(Bridge.installable)) throws {
        try fake.put("/etc/passwd", mode: 0o644)
        if bridges.contains(.v4l2) { try fake.put(library, "loads", mode: 0o644) }
        if bridges.contains(.alsa) {
            try fake.put(template, Bridges.alsaMark + "\n1\n", mode: 0o644)
            try fake.put(Bridges.alsaType, "pcm_type.captured.lib \"libasound_module_pcm_captured.so\"\n", mode: 0o644)
            try fake.put("/usr/lib/x86_64-linux-gnu/libasound.so.2", mode: 0o644)
            try fake.put(plugin, mode: 0o644)
        }
        if bridges.contains(.pipewire) {
            try fake.put("/usr/libexec/captured-pipewire", mode: 0o755)
            try fake.put("/usr/lib/systemd/user/\(Bridges.unit)", mode: 0o644)
        }
    }

    private func text(_ path: String) -> String? { try? String(contentsOfFile: fake.root + path, encoding: .utf8) }
    private func names() -> [String] { fake.machine.names(in: "/etc") }
    private func words(_ isLocked: Bool = true) -> [String] { bridges().states(isLocked: isLocked).map(\.word) }
    private func faults(_ isLocked: Bool = true) -> [String] {
        bridges().states(isLocked: isLocked).map(\.fault).filter { !$0.isEmpty }
    }

    @Test(arguments: [nil, "", "# mine\n/usr/lib/other.so", "/usr/lib/other.so\n"])
    func `turned on and off again, all is as it was`(_ before: String?) throws {
        try install()
        if let before { try fake.put(PreloadList.place, before, mode: 0o640) }
        let tools = FakeBridgeTools(fake.root)
        #expect(words() == ["off", "off", "off"])
        let on = bridges(tools).turnOn()
        #expect(on.failures.isEmpty && on.done.count == 3)
        #expect(words() == ["on", "on", "on"])
        #expect(bridges().states(isLocked: true).allSatisfy { $0.isByLockdown && $0.fault.isEmpty })
        let kept = before.map { $0.isEmpty || $0.hasSuffix("\n") ? $0 : $0 + "\n" } ?? ""
        #expect(text(PreloadList.place) == kept + library + "\n")
        #expect(text(Bridges.alsaPlace) == text(template))
        #expect(fake.machine.access(to: PreloadList.place)?.mode == (before == nil ? 0o644 : 0o640))
        #expect(bridges(tools).turnOn().done.isEmpty)
        let off = bridges(tools).turnOff()
        #expect(off.failures.isEmpty && off.done.count == 3)
        #expect(text(PreloadList.place) == before)
        #expect(text(Bridges.alsaPlace) == nil && text(BridgeRecord.place) == nil)
        #expect(tools.calls == ["enable \(Bridges.unit)", "disable \(Bridges.unit)"])
        #expect(bridges(tools).turnOff().done.isEmpty)
        #expect(names().allSatisfy { !$0.contains("captured-new") })
    }

    @Test func `what a person turned on stays on`() throws {
        try install()
        let own = "/usr/$LIB/captured/libcaptured-v4l2.so\n"
        try fake.put(PreloadList.place, own, mode: 0o644)
        try fake.put(Bridges.alsaPlace, "their own\n", mode: 0o644)
        let tools = FakeBridgeTools(fake.root)
        try tools.enable(Bridges.unit)
        #expect(bridges(tools).turnOn().done.isEmpty)
        #expect(bridges(tools).turnOff().done.isEmpty)
        #expect(text(PreloadList.place) == own)
        #expect(text(Bridges.alsaPlace) == "their own\n")
        #expect(words() == ["on", "on", "on"])
        #expect(tools.calls.count == 1)
    }

    @Test func `a file that somebody changed since stays, and so do libraries that were added`() throws {
        try install()
        _ = bridges().turnOn()
        try fake.put(Bridges.alsaPlace, (text(template) ?? "") + "# mine\n", mode: 0o644)
        try fake.put(PreloadList.place, (text(PreloadList.place) ?? "") + "/usr/lib/other.so\n", mode: 0o644)
        let off = bridges().turnOff()
        #expect(off.done.contains { $0.contains("stays, because somebody changed it") })
        #expect(text(Bridges.alsaPlace)?.hasSuffix("# mine\n") == true)
        #expect(text(PreloadList.place) == "/usr/lib/other.so\n")
        #expect(text(BridgeRecord.place) == nil)
    }

    @Test func `a library that is missing is a problem of every program, and taken out whoever put it in`() throws {
        try install([.alsa])
        try fake.put(PreloadList.place, "# mine\n\(library)\n", mode: 0o644)
        for isLocked in [true, false] {
            #expect(faults(isLocked).contains { $0.contains("which is missing: every program prints an error") })
        }
        let state = try #require(bridges().states(isLocked: false).first)
        #expect(BridgeChecks(isLocked: false).judge(state).state == .problem)
        #expect(bridges().mend(isLocked: false).done.count == 1)
        #expect(text(PreloadList.place) == "# mine\n")
        #expect(faults(false).isEmpty)
    }

    @Test func `the default of a plugin that is missing is a problem, and removed if it is captured's`() throws {
        try install()
        _ = bridges().turnOn()
        _ = unsafe unlink(fake.root + plugin)
        #expect(faults().contains { $0.contains("ALSA's default device does not work") })
        _ = bridges().mend(isLocked: true)
        #expect(text(Bridges.alsaPlace) == nil)
        try fake.put(Bridges.alsaPlace, "their own\n", mode: 0o644)
        let state = bridges().states(isLocked: true)[1]
        #expect(state.isHarmful && state.remedy == "sudo rm \(Bridges.alsaPlace)")
        _ = bridges().mend(isLocked: true)
        #expect(text(Bridges.alsaPlace) == "their own\n")
    }

    @Test func `what the lockdown turned on and something else off is mended; after it, what is left is taken back`()
        throws
    {
        try install()
        _ = bridges().turnOn()
        for path in [PreloadList.place, Bridges.alsaPlace] { _ = unsafe unlink(fake.root + path) }
        #expect(faults().filter { $0.contains("turned it on, but it is off") }.count == 2)
        #expect(bridges().mend(isLocked: true).done.count == 2)
        #expect(words() == ["on", "on", "on"])
        try fake.put(template, Bridges.alsaMark + "\n2\n", mode: 0o644)
        #expect(faults().contains { $0.contains("from another version") })
        _ = bridges().mend(isLocked: true)
        #expect(text(Bridges.alsaPlace) == text(template))
        #expect(faults(false).filter { $0.contains("is off itself") }.count == 3)
        _ = bridges().mend(isLocked: false)
        #expect(words(false) == ["off", "off", "off"])
        #expect(text(BridgeRecord.place) == nil)
    }

    @Test func `a bridge that fails leaves nothing behind, and the others are turned on`() throws {
        try install()
        let tools = FakeBridgeTools(fake.root)
        tools.fails = true
        try fake.put(library, "does not load", mode: 0o644)
        let outcome = bridges(tools).turnOn()
        #expect(outcome.failures.map(\.code) == [.badData, .inputOutput])
        #expect(words() == ["off", "on", "off"])
        #expect(bridges().record == BridgeRecord("alsa \(bridges().record.alsa ?? "")"))
        try fake.put(library, "loads", mode: 0o646)
        #expect(bridges().turnOn().failures.first?.code == .notPermitted)
        try fake.put(library, "loads", mode: 0o644)
        try fake.link(PreloadList.place, to: "elsewhere")
        #expect(bridges().turnOn().failures.first?.message.contains("it is a link") == true)
        _ = unsafe unlink(fake.root + PreloadList.place)
        try FileManager.default.createDirectory(
            atPath: fake.root + PreloadList.place,
            withIntermediateDirectories: false
        )
        #expect(bridges().turnOn().failures.first?.code == .inputOutput)
        #expect(bridges().record.library == nil)
        #expect(names().allSatisfy { !$0.contains("captured-new") })
    }

    @Test func `a plugin that ALSA does not find is as one that is not installed`() throws {
        try install([.alsa])
        #expect(words() == ["not installed", "off", "not installed"])
        let lines = ["/opt/x.so": "not installed", plugin: "off", "other.so": "not installed"]
        for (line, word) in lines {
            try fake.put(Bridges.alsaType, "# x\npcm_type.captured.lib \"\(line)\"\n", mode: 0o644)
            #expect(words()[1] == word)
        }
    }

    @Test func `nothing is turned on that is not installed, and the lockdown's loss is advice`() throws {
        try install([])
        let outcome = bridges().turnOn()
        #expect(outcome.done.isEmpty && outcome.failures.isEmpty)
        #expect(names() == ["passwd"])
        #expect(words() == ["not installed", "not installed", "not installed"])
        func states(_ isLocked: Bool) -> [Finding.State] {
            bridges().states(isLocked: isLocked).map(BridgeChecks(isLocked: isLocked).judge).map(\.state)
        }
        #expect(states(true) == [.advice, .advice, .advice])
        #expect(states(false) == [.fine, .fine, .fine])
    }
}
