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
    let bridged: BridgedPrograms
    let agents: AgentRegistry
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
                "ListDevices": listDevices, "CreateSession": createSession, "CreateSessionFor": createSessionFor,
                "OpenDoor": doors.opening(for: callers), "ListSessions": listSessions, "ListUses": listUses,
                "ListHolders": listHolders, "GetHealth": getHealth,
            ],
            actions: [
                "ReportStranger": reportStranger, "CheckMemory": checkMemory, "Reload": reload, "Subscribe": subscribe,
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
        var client = try await callers.client(call.sender)
        var description = try SessionDescription(busValue: call.arguments.argument(0))
        if let cookie = description.question {
            client.taking = try await agents.taking(cookie, from: call.sender)
            // Nobody else is to see it.
            description.question = nil
        }
        let files = try await call.arguments.files(1, from: doors, of: client.connection)
        return try await create(description, files, for: client)
    }

    private func createSessionFor(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let caller = try await callers.client(call.sender)
        let name = try call.arguments.text(4)
        let isByPortal = name == "portal"
        guard let bridge = isByPortal ? .pipewire : Bridge(rawValue: name), [.pipewire, .pulse].contains(bridge) else {
            throw CaptureError(
                .invalidArgument,
                "programs do not come through '\(DisplayText.neutralized(name, limit: 40))': give pipewire, pulse or portal"
            )
        }
        let client = try await bridged.client(
            Int32(clamping: try call.arguments.number(0)),
            startedAt: UInt64(clamping: try call.arguments.number(1)),
            bridge: bridge,
            isByPortal: isByPortal,
            said: Int32(clamping: try call.arguments.number(3)),
            connections: try call.arguments.counts(2),
            through: caller
        )
        var description = try SessionDescription(busValue: call.arguments.argument(5))
        guard description.question == nil else {
            throw CaptureError(.invalidArgument, "a session for another program serves no question")
        }
        // What a process captures ends with it.
        description.isAttached = true
        let files = try await call.arguments.files(6, from: doors, of: client.connection)
        let answer = try await create(description, files, for: client)
        // If its process ended meanwhile, that was heard before the session was there.
        if await !bridged.programs(through: client.connection).contains(where: { $0.identity == client.identity }) {
            await engine.processGone(client.identity, on: client.connection)
        }
        return answer
    }

    private func checkMemory(_ call: BusCall) async throws(CaptureError) {
        let caller = try await callers.client(call.sender)
        let inodes = try call.arguments.argument(0).elements?.compactMap(\.unsigned) ?? []
        guard !inodes.isEmpty else {
            throw CaptureError(.invalidArgument, "there is no memory to look for; give the inode of each file")
        }
        try await bridged.checkMemory(Set(inodes), through: caller)
    }

    private func reportStranger(_ call: BusCall) async throws(CaptureError) {
        let caller = try await callers.client(call.sender)
        let word = try call.arguments.text(4)
        guard let service = AuthorizationService.ofDevices.first(where: { $0.rawValue == word }) else {
            throw CaptureError(.invalidArgument, "a stranger is told of for camera or microphone")
        }
        let arguments = call.arguments
        func process(_ index: Int) throws(CaptureError) -> BridgedPrograms.NamedProcess {
            BridgedPrograms.NamedProcess(
                number: Int32(clamping: try arguments.number(index)),
                startTime: UInt64(clamping: try arguments.number(index + 1))
            )
        }
        try await bridged.report(process(0), connectedTo: process(2), of: service, by: caller.identity)
    }

    private func create(
        _ description: SessionDescription,
        _ files: [String: any OpenFile],
        for client: SessionClient
    ) async throws(CaptureError) -> [BusValue] {
        let id = try await engine.create(description, files: files, client: client)
        // If its program left meanwhile, that was heard before the session was there.
        guard await callers.identity(of: client.connection) != nil else {
            await engine.clientGone(client.connection)
            throw CaptureError(.unreachable, "its program left before the session was made")
        }
        // The client may call the session as soon as it knows its path.
        if let session = await engine.list(for: client).first(where: { $0.id == id }) {
            try await sessions.publish(session)
        }
        return [.objectPath(CaptureNames.sessionPath(id))]
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
        let client = try await callers.client(call.sender).identity
        // What others do is not for a sandbox to see.
        if client.tier == .sandboxed { return [.records([NodeHolder]())] }
        let user = client.user
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

    private func reload(_ call: BusCall) async throws(CaptureError) {
        let client = try await callers.client(call.sender)
        guard client.identity.user == 0 || client.identity.user == health.ownUser else {
            throw CaptureError(.notPermitted, "only root may reload the configuration")
        }
        await health.reload()
    }
    private func subscribe(_ call: BusCall) async throws(CaptureError) {
        try await listeners.subscribe(call.sender, known: callers)
    }
}
