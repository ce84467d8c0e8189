import Authorization
import BusSupport
import CaptureBus
import CaptureCore
import CaptureDevices
import CaptureEngine
import Foundation
import TestSupport

@testable import CaptureService

/// A state directory of a test's own.
final class ProfileFolder: Sendable {
    let path = NSTemporaryDirectory() + "profiles-\(UUID().uuidString)"

    init() throws {
        let mode = [FileAttributeKey.posixPermissions: 0o700]
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false, attributes: mode)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func write(_ name: String, _ text: String, mode: Int) throws {
        let file = path + "/" + name
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
    }
}

/// What a daemon makes of the synthetic devices and the profiles in a folder. Another one over the same folder is the daemon
/// after a restart, with devices that were plugged in anew.
struct ProfileScene {
    let devices: MachineDevices
    let desk: SettingsDesk
    let profiles: ProfileDesk
    let history: HistoryKeeper
    let camera: DeviceDescription
    let grant: Grant

    init(_ folder: ProfileFolder, bus: PrivateBus, kind: BusKind? = nil) async throws {
        let synthetic = SyntheticDevices()
        devices = MachineDevices(
            monitor: try DeviceMonitor(probers: []) { _ in },
            synthetic: synthetic,
            heartbeat: Heartbeat(),
            vendors: VendorControls(),
            profiles: DeviceProfiles(ProfileFile(directory: folder.path))
        )
        let gate = AuthorizationGate(prompter: ClosurePrompter { _ in [:] })
        desk = SettingsDesk(devices: devices, gate: gate, giveBack: { _ in }, tell: { _, _, _ in })
        let limits = HistoryLimits(age: 86_400_000, count: 1000)
        history = HistoryKeeper(HistoryStore(directory: folder.path), limits: limits)
        let settings = SettingsGuard(
            bus: try await BusConnection.open(bus.kind),
            kind: kind ?? bus.kind,
            commandLine: "/nonexistent",
            logins: .ofSessionBus
        )
        profiles = ProfileDesk(devices: devices, desk: desk, settings: settings, history: history)
        camera = synthetic.descriptions()[0]
        grant = try await TestGrants.camera()
    }

    static func client(_ connection: String, tier: Tier = .claimed) -> SessionClient {
        let identity = ClientIdentity(
            program: "exe:/usr/bin/panel",
            tier: tier,
            user: 1000,
            name: "panel",
            detail: "a test",
            pid: 10
        )
        return SessionClient(identity: identity, connection: connection) { identity }
    }

    func set(_ values: KeyValuePairs<String, Int64>, by client: SessionClient) async throws {
        for (name, value) in values { try await desk.set(name, to: value, of: camera, for: client, grant) }
    }

    func save(_ names: [String] = [], by client: SessionClient = client("saver")) async throws {
        try await profiles.save(names, of: camera, for: client, grant)
    }

    func value(_ name: String) async throws -> Int64? {
        try await desk.list(camera, grant).control(named: name)?.value
    }

    /// What the profile holds, by name.
    var profile: [String: Int64] {
        Dictionary(uniqueKeysWithValues: profiles.content(of: camera).map { ($0.name, $0.value) })
    }
}
