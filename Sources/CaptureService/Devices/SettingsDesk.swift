import Authorization
import CaptureCore
import CaptureDevices
import CaptureEngine
import CaptureSystem

/// The devices' settings for callers of the bus: which caller may change them now, which values return when it leaves, and
/// which callers hear of changes.
///
/// What a caller changes while it holds a device's lock is put back when its connection or its consent ends. What is
/// changed without the lock stays.
actor SettingsDesk: GrantEnforcer {
    /// One device's. It is there while a caller holds the lock, has changed something, or is told of changes.
    private struct Desk {
        /// The client that holds the lock.
        var holder: SessionClient?
        /// The client that holds the lock again when a loan to a photo ends.
        var lender: SessionClient?
        /// The grants on which callers hold the lock, and have changed what is put back.
        var grants: [String: Grant] = [:]
        var changes = SettingsChanges()
        /// Opened for the first of the changes: putting them back needs no consent.
        var settings: (any DeviceSettings)?
        /// Writes of the lock's holder that are under way.
        var writes = 0
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

    /// How long a stop waits for drivers.
    private static let patience = Duration.seconds(5)

    private let devices: MachineDevices
    private let giveBack: @Sendable ([Grant]) async -> Void
    private let tell: @Sendable (DeviceID, News, _ connection: String) -> Void
    private var desks: [DeviceID: Desk] = [:]

    /// - Parameters:
    ///   - giveBack: Gives grants back that a caller needs no longer.
    ///   - tell: Tells a connection something about a device. Must not block.
    init(
        devices: MachineDevices,
        gate: AuthorizationGate,
        giveBack: @escaping @Sendable ([Grant]) async -> Void,
        tell: @escaping @Sendable (DeviceID, News, _ connection: String) -> Void
    ) {
        self.devices = devices
        self.giveBack = giveBack
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
        if isHolder { desks[device.id]?.writes += 1 }
        defer {
            if isHolder {
                desks[device.id]?.writes -= 1
                tidy(device.id)
            }
        }
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
            // The caller left during the write: put its change back now.
            if desks[device.id]?.grants[client.connection] == nil { await leave(device.id, client.connection)?.value }
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
        if desks[device.id]?.lender?.connection == client.connection {
            desks[device.id]?.lender = nil
            return
        }
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

    /// What programs changed returns to these values, which were saved in the device's profile.
    func returnTo(_ values: [String: Int64], of device: DeviceID) { desks[device]?.changes.returnTo(values) }

    /// Makes sure that nobody else holds the lock, and that nothing is put back at this time.
    func waitUntilFree(_ device: DeviceDescription, for client: SessionClient) async throws(CaptureError) {
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

    // MARK: Loans

    /// Lends the settings for a photo, under a name of its own: what is changed under that name is put back when it leaves.
    /// A client that holds the lock has it again then.
    ///
    /// - Throws: As `lock`.
    func lend(
        _ device: DeviceDescription,
        of client: SessionClient,
        to photo: SessionClient,
        _ grant: Grant
    ) async throws(CaptureError) {
        try await waitUntilFree(device, for: client)
        sit(at: device.id)
        let lender = desks[device.id]?.holder
        desks[device.id]?.lender = lender
        desks[device.id]?.holder = photo
        desks[device.id]?.grants[photo.connection] = grant
        try await confirm(photo, at: device.id)
    }

    /// Ends a loan: puts values back, and whatever else changed.
    func endLoan(
        of device: DeviceDescription,
        to photo: SessionClient,
        _ values: [String: Int64],
        _ grant: Grant
    ) async {
        do throws(CaptureError) {
            // A client that had changed something itself, and still holds the lock, has its own values again.
            try await change(device, for: photo, grant) { settings throws(CaptureError) in
                try settings.restore { values[$0.name] }
            }
        } catch {
            // Without consent, or without a device, that is done or needless.
            Journal.send("the settings of \(device.id) after a photo: \(error.message)", priority: .info)
        }
        await leave(device.id, photo.connection)?.value
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
                try settings.watch {
                    audience.hear($0)
                } ended: {
                    Task { await self.watchEnded(device.id, audience) }
                }
            }
            // It may be another desk by now, or have a watch already.
            if desks[device.id]?.audience === audience, desks[device.id]?.watch == nil {
                desks[device.id]?.watch = watch
            }
            tidy(device.id)
        } catch {
            letGo(audience.release(client.connection))
            tidy(device.id)
            throw error
        }
    }

    /// Ends one of a caller's watches.
    func unwatch(_ device: DeviceDescription, for client: SessionClient) {
        letGo(desks[device.id]?.audience.release(client.connection))
        tidy(device.id)
    }

    // MARK: Ends

    /// A caller left: the locks that it had are free, and captured puts back what it changed under them. Waits for no driver.
    func clientGone(_ connection: String) {
        for device in desks.keys { leave(device, connection) }
    }

    /// Removes callers whose consent was withdrawn. They are told of nothing more, and putting back what they changed needs
    /// no consent.
    func enforceWithdrawals() async -> [Task<Void, Never>] {
        var rest: [Task<Void, Never>] = []
        for (device, desk) in desks {
            for (connection, grant) in desk.audience.withdrawn {
                desk.audience.remove(connection)
                tell(device, .ended(grant.withdrawal), connection)
            }
            for (connection, grant) in desk.grants where !grant.isLive {
                if let restoring = leave(device, connection) { rest.append(restoring) }
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

    /// A device tells of no more changes, although it may still be there.
    private func watchEnded(_ device: DeviceID, _ audience: ControlAudience) {
        guard desks[device]?.audience === audience else { return }
        let lost = CaptureError(.deviceLost, "the device \(device) does not tell of changed settings any more")
        for connection in audience.connections {
            letGo(audience.remove(connection))
            tell(device, .ended(lost), connection)
        }
        tidy(device)
    }

    /// Puts back what every caller changed. A driver that does not answer is not waited for.
    func shutDown() async {
        let restoring = desks.flatMap { device, desk in desk.grants.keys.compactMap { leave(device, $0) } }
        let (done, end) = AsyncStream<Void>.makeStream()
        Task {
            for task in restoring { await task.value }
            end.finish()
        }
        let limit = Task {
            try? await Task.sleep(for: SettingsDesk.patience)
            end.finish()
        }
        for await _ in done {}
        limit.cancel()
    }

    /// Makes sure that a caller is there, once it has a place at a desk: from then on its leaving is heard of.
    private func confirm(_ client: SessionClient, at device: DeviceID) async throws(CaptureError) {
        do throws(CaptureError) {
            _ = try await client.identifyAgain()
        } catch {
            await leave(device, client.connection)?.value
            throw error
        }
    }

    /// Takes a caller's place away, and begins to put back what it changed.
    ///
    /// - Returns: What puts it back; it ends when the driver has answered. `nil` for nothing.
    @discardableResult
    private func leave(_ device: DeviceID, _ connection: String) -> Task<Void, Never>? {
        guard var desk = desks[device] else { return nil }
        letGo(desk.audience.remove(connection))
        letGo(desk.grants.removeValue(forKey: connection))
        if desk.lender?.connection == connection { desk.lender = nil }
        if desk.holder?.connection == connection { (desk.holder, desk.lender) = (desk.lender, nil) }
        let values = desk.changes.take(connection)
        guard let settings = desk.settings, !values.isEmpty else {
            desks[device] = desk
            tidy(device)
            return nil
        }
        let former = desk.restoring
        let task = Task {
            await former?.value
            await settings.putBack(values, of: device)
        }
        desk.restoring = task
        desks[device] = desk
        Task {
            await task.value
            restored(device, task)
        }
        return task
    }

    private func restored(_ device: DeviceID, _ task: Task<Void, Never>) {
        if desks[device]?.restoring == task { desks[device]?.restoring = nil }
        tidy(device)
    }

    /// A caller needs a grant no longer.
    private func letGo(_ grant: Grant?) {
        guard let grant else { return }
        Task { [giveBack] in await giveBack([grant]) }
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
        if desk.holder == nil, desk.changes.isEmpty, desk.restoring == nil, desk.writes == 0 {
            for grant in desk.grants.values { letGo(grant) }
            desks[device]?.grants = [:]
            if desk.audience.isEmpty { desks[device] = nil }
        }
    }
}
