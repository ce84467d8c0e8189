import Authorization
import CaptureBus
import CaptureCore
import CaptureDevices
import CaptureEngine
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
        [.list(await devices.devices())]
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
        let client = try await callers.client(call.sender)
        return [
            .propertyList(
                await engine.list(for: client).map { session in
                    [
                        "id": .uint32(session.id),
                        "path": .objectPath(SessionObjects.path(session.id)),
                        "state": .string(session.state.rawValue),
                        "reasonCode": .string(session.reason?.code.rawValue ?? ""),
                        "reason": .string(session.reason?.message ?? ""),
                        "program": .string(session.program),
                        "user": .string(Users.name(of: session.user)),
                        "attached": .bool(session.description.isAttached),
                        "description": session.description.shown.busValue,
                    ]
                }
            )
        ]
    }

    private func listUses(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let client = try await callers.client(call.sender)
        return [.propertyList(live.list(for: client.identity).map(\.properties))]
    }

    private func listHolders(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let user = try await callers.client(call.sender).identity.user
        let holders = try await search.holders()
        try await Users.learn(holders.map(\.user))
        return [
            .propertyList(
                holders.filter { user == 0 || $0.user == user }.map { holder in
                    [
                        "node": .string(holder.node), "pid": .uint32(UInt32(holder.process)),
                        "uid": .uint32(holder.user), "user": .string(Users.name(of: holder.user)),
                        "name": .string(holder.name), "program": .string(holder.program),
                    ]
                }
            )
        ]
    }

    private func getHealth(_: BusCall) async throws(CaptureError) -> [BusValue] {
        [.properties(try await health.report())]
    }

    private func reload(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let client = try await callers.client(call.sender)
        guard client.identity.user == 0 || client.identity.user == health.ownUser else {
            throw CaptureError(.notPermitted, "the configuration is reloaded by root alone")
        }
        await health.reload()
        return []
    }
    private func subscribe(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        try await listeners.subscribe(call.sender, known: callers)
        return []
    }
}
