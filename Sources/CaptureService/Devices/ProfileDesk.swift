import Authorization
import CaptureCore
import CaptureEngine
import CaptureSystem

/// Saves and forgets devices' profiles for callers of the bus. A profile changes what every program captures, so both take
/// the right to change settings, beside the consent for the device.
struct ProfileDesk: Sendable {
    let devices: MachineDevices
    let desk: SettingsDesk
    let settings: SettingsGuard
    let history: HistoryKeeper

    /// What the device's profile holds.
    func content(of device: DeviceDescription) -> [ProfileSetting] { devices.profiles.settings(of: device.id) }

    /// Saves the values that the device has now.
    ///
    /// - Parameter names: Of settings; empty for all that can be saved.
    /// - Throws: `notPermitted`; `busy` while another program has locked the settings; as `DeviceSettings.savable`.
    func save(
        _ names: [String],
        of device: DeviceDescription,
        for client: SessionClient,
        _ grant: Grant
    ) async throws(CaptureError) {
        try await settings.allowProfile(client, to: "save the settings of \(device.name) for every program")
        try await desk.waitUntilFree(device, for: client)
        let values = try await devices.work(on: device, grant) { settings throws(CaptureError) in
            let values = try settings.savable(names)
            try devices.profiles.save(values, of: device.id, isWhole: names.isEmpty)
            return values
        }
        await desk.returnTo(values, of: device.id)
        let words = values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
        note("saved in its profile: \(words)", of: device, by: client.identity)
    }

    /// Forgets the device's profile, or settings of it. The device keeps the values that it has now.
    ///
    /// - Throws: `notPermitted`; as `DeviceProfiles.forget`.
    func forget(
        _ names: [String],
        of device: DeviceDescription,
        for client: SessionClient,
        _ grant: Grant
    ) async throws(CaptureError) {
        // There is nothing to take a password for.
        if names.isEmpty, content(of: device).isEmpty { return }
        try await settings.allowProfile(client, to: "forget the saved settings of \(device.name) for every program")
        guard grant.isLive else { throw grant.withdrawal }
        try await WorkerThread.run("profile") { () throws(CaptureError) in
            try devices.profiles.forget(names, of: device.id)
        }
        let what = names.isEmpty ? "all" : names.sorted().joined(separator: " ")
        note("forgotten from its profile: \(what)", of: device, by: client.identity)
    }

    /// Tells the history and the journal.
    private func note(_ what: String, of device: DeviceDescription, by client: ClientIdentity) {
        let service = Service(device.mediaType)
        history.note(profile: "\(device.name): \(what)", of: service, by: client)
        Journal.send(
            "\(client.program), \(device.id): \(what)",
            fields: [
                "CAPTURE_SERVICE": service.rawValue, "CAPTURE_PROGRAM": client.program,
                "CAPTURE_USER": "\(client.user)",
            ]
        )
    }
}
