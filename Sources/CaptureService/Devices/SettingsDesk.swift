import Authorization
import CaptureCore
import CaptureDevices
import CaptureEngine
import CaptureSystem

/// The devices' settings as callers of the bus have them: who may change them now, what is put back when a caller leaves,
/// and who is told of changes.
///
/// What a caller changes while it holds a device's lock is put back when its connection or its consent ends. What is
/// changed without the lock stays.
actor SettingsDesk: GrantEnforcer {
    /// One device's. It is there while a caller holds the lock, has changed something, or is told of changes.
    private struct Desk {
        /// Who changes settings alone.
        var holder: SessionClient?
        /// The grants on which callers hold the lock, and have changed what is put back.
        var grants: [String: Grant] = [:]
        var changes = SettingsChanges()
        /// Opened for the first of the changes: putting them back needs no consent.
        var settings: (any DeviceSettings)?
        /// Puts something back.
        var restoring: Task<Void, Never>?
        var audience: ControlAudience
        var watch: (any ControlWatch)?
    }

    /// What a connection is told.
    enum News: Sendable {
        case changed(DeviceControl)
        /// Nothing more comes, because of this.
        case ended(CaptureError)
    }

    private let devices: MachineDevices
    private let tell: @Sendable (DeviceID, News, _ connection: String) -> Void
    private var desks: [DeviceID: Desk] = [:]

    /// - Parameter tell: Tells a connection something about a device. Must not block.
    init(
        devices: MachineDevices,
        gate: AuthorizationGate,
        tell: @escaping @Sendable (DeviceID, News, _ connection: String) -> Void
    ) {
        self.devices = devices
        self.tell = tell
        gate.enforced(by: self)
    }

    // MARK: Reading and writing

    func list(_ device: DeviceDescription, _ grant: Grant) async throws(CaptureError) -> [DeviceControl] {
        try await devices.work(on: device, grant) { settings throws(CaptureError) in try settings.list() }
    }

    func set(
        _ name: String,
        to value: Int64,
        of device: DeviceDescription,
        for client: SessionClient,
        _ grant: Grant
    ) async throws(CaptureError) {
        try await change(device, for: client, grant) { settings throws(CaptureError) in
            try settings.set(name, to: value)
        }
    }

    /// Writes the default of everything that can be written; buttons are left alone.
    func reset(
        _ device: DeviceDescription,
        for client: SessionClient,
        _ grant: Grant
    ) async throws(CaptureError) {
        try await change(device, for: client, grant) { settings throws(CaptureError) in
            try settings.restore(\.defaultValue)
        }
    }

    private func change(
        _ device: DeviceDescription,
        for client: SessionClient,
        _ grant: Grant,
        _ body: @escaping @Sendable (any DeviceSettings) throws(CaptureError) -> Void
    ) async throws(CaptureError) {
        try await waitUntilFree(device, for: client)
        let isHolder = desks[device.id]?.holder?.connection == client.connection
        guard isHolder || desks[device.id]?.changes.isEmpty == false else {
            return try await devices.work(on: device, grant, body)
        }
        typealias Done = (settings: any DeviceSettings, before: [DeviceControl], after: [DeviceControl], CaptureError?)
        let done = try await devices.work(on: device, grant) { settings throws(CaptureError) -> Done in
            let before = try settings.list()
            do throws(CaptureError) {
                try body(settings)
                return (settings, before, try settings.list(), nil)
            } catch {
                // A reset may have changed something by then.
                return (settings, before, (try? settings.list()) ?? before, error)
            }
        }
        if isHolder {
            sit(at: device.id)
            desks[device.id]?.changes.note(from: done.before, to: done.after, by: client.connection)
            if desks[device.id]?.settings == nil { desks[device.id]?.settings = done.settings }
            // Who has left meanwhile does not come back for it.
            if desks[device.id]?.grants[client.connection] == nil { await leave(device.id, client.connection) }
        } else {
            desks[device.id]?.changes.forget(from: done.before, to: done.after)
        }
        if let error = done.3 { throw error }
    }

    // MARK: The lock

    /// Lets a caller alone change the settings, until it unlocks them or leaves. Idempotent.
    ///
    /// - Throws: `busy`, which says who has them.
    func lock(_ device: DeviceDescription, for client: SessionClient, _ grant: Grant) async throws(CaptureError) {
        try await waitUntilFree(device, for: client)
        sit(at: device.id)
        desks[device.id]?.holder = client
        desks[device.id]?.grants[client.connection] = grant
        try await confirm(client, at: device.id)
    }

    /// Lets others change the settings again. What was changed is still put back when the caller leaves.
    ///
    /// - Throws: `wrongState` if the caller does not hold the lock.
    func unlock(_ device: DeviceDescription, for client: SessionClient) throws(CaptureError) {
        guard desks[device.id]?.holder?.connection == client.connection else {
            throw CaptureError(.wrongState, "this program has not locked the settings of \(device.name)")
        }
        desks[device.id]?.holder = nil
        tidy(device.id)
    }

    /// What a caller changed stays when it leaves.
    func keep(_ device: DeviceDescription, for client: SessionClient) {
        desks[device.id]?.changes.keep(client.connection)
        tidy(device.id)
    }

    /// Makes sure that nobody else holds the lock, and that nothing is put back at this time.
    private func waitUntilFree(_ device: DeviceDescription, for client: SessionClient) async throws(CaptureError) {
        while let task = desks[device.id]?.restoring {
            await task.value
            if desks[device.id]?.restoring == task { desks[device.id]?.restoring = nil }
        }
        guard let holder = desks[device.id]?.holder, holder.connection != client.connection else { return }
        let identity = holder.identity
        // Which program uses a device is a matter of its user.
        let who =
            client.identity.mayControl(identity.program, of: identity.user)
            ? "\(identity.program) (process \(identity.pid))" : "a program of another user"
        throw CaptureError(.busy, "the settings of \(device.name) are locked by \(who)")
    }

    // MARK: Changes

    /// Tells a caller of every setting that changes, from now on.
    ///
    /// - Throws: `invalidArgument` for a device that does not tell.
    func watch(_ device: DeviceDescription, for client: SessionClient, _ grant: Grant) async throws(CaptureError) {
        let audience = sit(at: device.id)
        audience.add(client.connection, grant)
        do throws(CaptureError) {
            try await confirm(client, at: device.id)
            if desks[device.id]?.watch != nil { return }
            let watch = try await devices.work(on: device, grant) { settings throws(CaptureError) in
                try settings.watch { audience.hear($0) }
            }
            // It may be another desk by now, or have a watch already.
            if desks[device.id]?.audience === audience, desks[device.id]?.watch == nil {
                desks[device.id]?.watch = watch
            }
            tidy(device.id)
        } catch {
            audience.release(client.connection)
            tidy(device.id)
            throw error
        }
    }

    /// Ends one of a caller's watches.
    func unwatch(_ device: DeviceDescription, for client: SessionClient) {
        desks[device.id]?.audience.release(client.connection)
        tidy(device.id)
    }

    // MARK: Ends

    /// A caller left: the locks that it had are free, and what it changed under them is put back.
    func clientGone(_ connection: String) async {
        for device in desks.keys { await leave(device, connection) }
    }

    /// Has those whose consent is gone leave. They are told of nothing more, and putting back what they changed needs no
    /// consent.
    func enforceWithdrawals() async -> [Task<Void, Never>] {
        var rest: [Task<Void, Never>] = []
        let ended = CaptureError(.revoked, "the consent for this device was withdrawn")
        for (device, desk) in desks {
            for connection in desk.audience.withdrawn {
                desk.audience.remove(connection)
                tell(device, .ended(ended), connection)
            }
            for (connection, grant) in desk.grants where !grant.isLive {
                rest.append(Task { await self.leave(device, connection) })
            }
            tidy(device)
        }
        return rest
    }

    /// A device left, and with it all that was changed.
    func deviceGone(_ device: DeviceID) {
        guard let desk = desks.removeValue(forKey: device) else { return }
        let lost = CaptureError(.deviceLost, "the device \(device) is gone")
        for connection in desk.audience.connections { tell(device, .ended(lost), connection) }
    }

    /// Puts back what every caller changed.
    func shutDown() async {
        for (device, desk) in desks {
            for connection in desk.grants.keys { await leave(device, connection) }
        }
    }

    /// Makes sure that a caller is there, once it has a place at a desk: from then on its leaving is heard of.
    private func confirm(_ client: SessionClient, at device: DeviceID) async throws(CaptureError) {
        do throws(CaptureError) {
            _ = try await client.identifyAgain()
        } catch {
            await leave(device, client.connection)
            throw error
        }
    }

    private func leave(_ device: DeviceID, _ connection: String) async {
        guard var desk = desks[device] else { return }
        desk.audience.remove(connection)
        desk.grants[connection] = nil
        if desk.holder?.connection == connection { desk.holder = nil }
        let values = desk.changes.take(connection)
        if let settings = desk.settings, !values.isEmpty {
            let former = desk.restoring
            let task = Task {
                await former?.value
                await SettingsDesk.restore(values, settings, of: device)
            }
            desk.restoring = task
            desks[device] = desk
            await task.value
            if desks[device]?.restoring == task { desks[device]?.restoring = nil }
        } else {
            desks[device] = desk
        }
        tidy(device)
    }

    private static func restore(_ values: [String: Int64], _ settings: any DeviceSettings, of device: DeviceID) async {
        do throws(CaptureError) {
            try await WorkerThread.run("restore-controls") {
                Result { () throws(CaptureError) in try settings.restore { values[$0.name] } }
            }
        } catch {
            // A device that is gone has its own values when it comes back.
            if error.code == .deviceLost { return }
            Journal.send("cannot put back the settings of \(device): \(error.message)", priority: .warning)
        }
    }

    @discardableResult
    private func sit(at device: DeviceID) -> ControlAudience {
        if let desk = desks[device] { return desk.audience }
        let audience = ControlAudience { [tell] control, connection in tell(device, .changed(control), connection) }
        desks[device] = Desk(audience: audience)
        return audience
    }

    /// Closes what nobody needs any more.
    private func tidy(_ device: DeviceID) {
        guard let desk = desks[device] else { return }
        if desk.audience.isEmpty { desks[device]?.watch = nil }
        if desk.changes.isEmpty { desks[device]?.settings = nil }
        if desk.holder == nil, desk.changes.isEmpty, desk.restoring == nil {
            desks[device]?.grants = [:]
            if desk.audience.isEmpty { desks[device] = nil }
        }
    }
}
