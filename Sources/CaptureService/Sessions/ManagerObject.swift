import Authorization
import CaptureBus
import CaptureCore
import CaptureDevices
import CaptureEngine
import CaptureMessages
import CaptureSystem

/// The Manager interface: devices, sessions, health.
struct ManagerObject: Sendable {
    let engine: CaptureEngine
    let callers: CallerDirectory
    let devices: MachineDevices
    let sessions: SessionObjects
    let doors: PassingDoors
    let health: Health
    let listeners: Listeners
    let live: LiveUses
    let search = HolderSearch()

    var implementation: BusImplementation {
        BusImplementation(
            CaptureInterfaces.manager,
            methods: [
                "ListDevices": listDevices, "CreateSession": createSession, "OpenDoor": doors.opening(for: callers),
                "ListSessions": listSessions,
                "ListUses": listUses, "ListHolders": listHolders, "GetHealth": getHealth, "Reload": reload,
                "Subscribe": subscribe,
            ],
            properties: [
                "Version": .string(CaptureVersion.text),
                "Synthetic": .bool(devices.synthetic != nil),
            ]
        )
    }

    private func listDevices(_: BusCall) async throws(CaptureError) -> [BusValue] {
        [.list(await devices.devices().filter { !$0.isSubdevice })]
    }

    private func createSession(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let client = try await callers.client(call.sender)
        let description = try SessionDescription(busValue: call.arguments.argument(0))
        let files = try await call.arguments.files(1, from: doors, of: client.connection)
        let id = try await engine.create(description, files: files, client: client)
        // The client may call the session as soon as it knows its path.
        if let session = await engine.list(for: client).first(where: { $0.id == id }) {
            try await sessions.publish(session)
        }
        return [.objectPath(SessionObjects.path(id))]
    }

    private func listSessions(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let client = try await callers.reader(call.sender)
        return [.records(await engine.list(for: client).map(SessionSummary.init))]
    }

    private func listUses(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let client = try await callers.reader(call.sender)
        return [.records(live.list(for: client.identity))]
    }

    private func listHolders(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let user = try await callers.client(call.sender).identity.user
        let holders = try await search.holders()
        try await Users.learn(holders.map(\.user))
        return [
            .records(
                holders.filter { user == 0 || $0.user == user }.map { holder in
                    var named = holder
                    named.userName = Users.name(of: holder.user)
                    return named
                }
            )
        ]
    }

    private func getHealth(_: BusCall) async throws(CaptureError) -> [BusValue] {
        [try await health.report().busValue]
    }

    private func reload(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let client = try await callers.client(call.sender)
        guard client.identity.user == 0 || client.identity.user == health.ownUser else {
            throw CaptureError(.notPermitted, "only root may reload the configuration")
        }
        await health.reload()
        return []
    }
    private func subscribe(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        try await listeners.subscribe(call.sender, known: callers)
        return []
    }
}
