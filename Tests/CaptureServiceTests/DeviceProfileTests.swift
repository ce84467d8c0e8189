import Authorization
import BusSupport
import CaptureBus
import CaptureCore
import CaptureDevices
import CaptureEngine
import Testing

@testable import CaptureService

@Suite(.timeLimit(.minutes(10))) struct `A device's profile` {
    private let bus: PrivateBus
    private let folder: ProfileFolder
    private let client = ProfileScene.client("a")

    init() throws {
        bus = try PrivateBus()
        folder = try ProfileFolder()
    }

    private func scene() async throws -> ProfileScene { try await ProfileScene(folder, bus: bus) }

    @Test func `is what a camera has when it is first opened to capture from, after a restart`() async throws {
        let before = try await scene()
        try await before.set(["focus_auto": 0, "focus_absolute": 100, "zoom_absolute": 300], by: client)
        try await before.save()
        let after = try await scene()
        let source = try await after.devices.openCamera(after.camera, VideoFormatRequest(), grant: after.grant)
        await after.devices.close(source)
        // The source has them without that somebody had looked at the settings.
        let settings = try #require(after.devices.synthetic).settings(of: after.camera.id, grant: after.grant)
        let controls = try settings.list()
        #expect(controls.control(named: "focus_auto")?.value == 0)
        #expect(controls.control(named: "focus_absolute")?.value == 100)
        #expect(controls.control(named: "zoom_absolute")?.value == 300)
        #expect(after.profiles.content(of: after.camera).allSatisfy { $0.fault == nil })
    }

    @Test func `is there for who only looks at the settings, once, and again when the device is back`() async throws {
        let before = try await scene()
        try await before.set(["zoom_absolute": 300], by: client)
        try await before.save(["zoom_absolute"])
        let after = try await scene()
        #expect(try await after.value("zoom_absolute") == 300)
        try await after.set(["zoom_absolute": 200], by: client)
        let source = try await after.devices.openCamera(after.camera, VideoFormatRequest(), grant: after.grant)
        await after.devices.close(source)
        #expect(try await after.value("zoom_absolute") == 200)
        after.devices.profiles.deviceGone(after.camera.id)
        #expect(try await after.value("zoom_absolute") == 300)
    }

    @Test func `is what a program's own changes return to`() async throws {
        let before = try await scene()
        try await before.set(["focus_auto": 0, "focus_absolute": 100], by: client)
        try await before.save()
        let after = try await scene()
        try await after.desk.lock(after.camera, for: client, after.grant)
        try await after.set(["focus_absolute": 50, "focus_auto": 1], by: client)
        await after.desk.clientGone("a")
        await after.desk.shutDown()
        try await after.set(["zoom_absolute": 100], by: ProfileScene.client("b"))
        #expect(try await after.value("focus_auto") == 0)
        #expect(try await after.value("focus_absolute") == 100)
    }

    @Test func `keeps what a program changed and saved, and returns what it changed later to that`() async throws {
        let scene = try await scene()
        try await scene.desk.lock(scene.camera, for: client, scene.grant)
        try await scene.set(["zoom_absolute": 200, "gain": 40], by: client)
        try await scene.save(["zoom_absolute"], by: client)
        try await scene.set(["zoom_absolute": 400], by: client)
        await scene.desk.clientGone("a")
        // Waits until all is put back.
        try await scene.set(["image_stabilization": 1], by: ProfileScene.client("b"))
        #expect(try await scene.value("zoom_absolute") == 200)
        #expect(try await scene.value("gain") == 16)
    }

    @Test func `holds what can be saved, and names replace it one by one`() async throws {
        let scene = try await scene()
        try await scene.save()
        let names = Set(scene.profile.keys)
        #expect(names.isSuperset(of: ["focus_auto", "gain", "zoom_absolute", "exposure_auto"]))
        // Disabled, only read, a lamp, an action, and a crop that shows everything.
        #expect(names.isDisjoint(with: ["focus_absolute", "privacy", "flash_led_mode", "disconnect", "crop"]))
        try await scene.set(["focus_auto": 0, "focus_absolute": 100, "gain": 3], by: client)
        try await scene.save(["0x009a090a", "focus_auto"])
        #expect(scene.profile["focus_absolute"] == 100)
        #expect(scene.profile["focus_auto"] == 0)
        #expect(scene.profile["gain"] == 16)
        try await scene.profiles.forget(["focus_absolute"], of: scene.camera, for: client, scene.grant)
        #expect(scene.profile["focus_absolute"] == nil && scene.profile["gain"] == 16)
        try await scene.profiles.forget([], of: scene.camera, for: client, scene.grant)
        #expect(scene.profile.isEmpty)
        #expect(try await scene.value("gain") == 3)
        #expect(try await self.scene().value("gain") == 16)
    }

    @Test(arguments: [
        ("focus_absolute", CaptureError.Code.wrongState), ("privacy", .invalidArgument),
        ("disconnect", .invalidArgument), ("flash_led_mode", .invalidArgument), ("nonsense", .invalidArgument),
    ])
    func `takes nothing else by name`(_ name: String, _ code: CaptureError.Code) async throws {
        let scene = try await scene()
        let error = await #expect(throws: CaptureError.self) { try await scene.save(["gain", name]) }
        #expect(error?.code == code)
        #expect(error?.message.contains(name) == true)
        #expect(scene.profile.isEmpty)
        let unknown = await #expect(throws: CaptureError.self) {
            try await scene.profiles.forget(["gain"], of: scene.camera, for: client, scene.grant)
        }
        #expect(unknown?.code == .invalidArgument)
    }

    @Test func `is not saved while another program has the settings locked`() async throws {
        let scene = try await scene()
        try await scene.desk.lock(scene.camera, for: client, scene.grant)
        #expect(await code { try await scene.save() } == .busy)
        #expect(scene.profile.isEmpty)
        try await scene.save(by: client)
        #expect(!scene.profile.isEmpty)
    }

    @Test func `stops nobody when it does not fit any more`() async throws {
        let text = "[synthetic:camera]\nfocus_absolute=100\ngain=9999\nlost=1\nprivacy=1\nzoom_absolute=300\n[end]\n"
        try folder.write("profiles", text, mode: 0o600)
        let scene = try await scene()
        let source = try await scene.devices.openCamera(scene.camera, VideoFormatRequest(), grant: scene.grant)
        await scene.devices.close(source)
        #expect(try await scene.value("zoom_absolute") == 300)
        #expect(try await scene.value("gain") == 16)
        let content = scene.profiles.content(of: scene.camera)
        let faults = Dictionary(uniqueKeysWithValues: content.map { ($0.name, $0.fault) })
        #expect(faults["zoom_absolute"] == .some(nil))
        #expect(faults["gain"]??.contains("out of range") == true)
        #expect(faults["focus_absolute"]??.contains("disabled by another") == true)
        #expect(faults["privacy"]??.contains("only be read") == true)
        #expect(faults["lost"]??.contains("no such setting") == true)
        // Who saves it anew has none of that.
        try await scene.save()
        #expect(scene.profiles.content(of: scene.camera).allSatisfy { $0.fault == nil })
    }

    @Test func `takes the right to change settings`() async throws {
        let polkit = try await FakePolkit(bus) { false }
        let scene = try await ProfileScene(folder, bus: bus, kind: .system)
        let refused = await #expect(throws: CaptureError.self) { try await scene.save(by: client) }
        #expect(refused?.code == .notPermitted)
        #expect(refused?.message.contains("takes your password") == true)
        #expect(polkit.checks == ["org.capturekit.capture1.change-profile of a"])
        #expect(polkit.messages.first?.contains("save the settings of Synthetic Camera for every program") == true)
        for tier in [Tier.sandboxed, .service, .user] {
            let other = ProfileScene.client("b", tier: tier)
            #expect(await code { try await scene.save(by: other) } == .notPermitted)
        }
        #expect(scene.profile.isEmpty)
        #expect(polkit.checks.count == 1)
        // Without a profile there is nothing to forget, and nothing to type a password for.
        try await scene.profiles.forget([], of: scene.camera, for: client, scene.grant)
        try scene.devices.profiles.save(["gain": 1], of: scene.camera.id, isWhole: true)
        let kept = await #expect(throws: CaptureError.self) {
            try await scene.profiles.forget([], of: scene.camera, for: client, scene.grant)
        }
        #expect(kept?.code == .notPermitted)
        #expect(scene.profile == ["gain": 1])
    }

    @Test func `is in the history when it changes`() async throws {
        let scene = try await scene()
        try await scene.save(["gain"])
        try await scene.profiles.forget([], of: scene.camera, for: client, scene.grant)
        let entries = try await scene.history.page(HistoryFilter(limit: 10))
        #expect(entries.map(\.kind) == [.setting, .setting])
        #expect(entries.map(\.author?.program) == ["exe:/usr/bin/panel", "exe:/usr/bin/panel"])
        #expect(entries.last?.message == "Synthetic Camera: saved in its profile: gain=16")
        #expect(entries.first?.message == "Synthetic Camera: forgotten from its profile: all")
    }
}
