import Authorization
import CaptureBus
import CaptureCore
import CaptureEngine

/// The Authorization interface: consent asked for, looked at and changed.
struct AuthorizationObject: Sendable {
    let bus: BusConnection
    let gate: AuthorizationGate
    let engine: CaptureEngine
    let callers: CallerDirectory
    let agents: AgentRegistry
    let requests: AccessRequests
    let commandLine: ShippedCommandLine
    let settings: SettingsGuard
    let history: HistoryPages
    let listeners: Listeners
    /// Tells the bus of switches: the object that has them as a property.
    let showSwitches: @Sendable (Switches) throws(CaptureError) -> Void

    func implementation(_ switches: Switches) -> BusImplementation {
        BusImplementation(
            CaptureInterfaces.authorization,
            methods: [
                "GetStatus": getStatus, "RequestAccess": requestAccess, "WhoAmI": whoAmI, "List": list,
                "GetProgramStatus": getProgramStatus, "Explain": explain, "Set": set, "Reset": reset,
                "GetHistory": getHistory, "RegisterAgent": registerAgent, "UnregisterAgent": unregisterAgent,
                "Answer": answer, "Dismiss": dismiss, "SetSwitch": setSwitch,
                "AnswerFor": answerFor, "SetFor": setFor,
            ],
            quick: ["GetStatus": rememberedStatus, "RequestAccess": requestRemembered],
            properties: AuthorizationObject.properties(of: switches)
        )
    }

    /// What was decided a moment ago, told on the bus thread to whom it was decided for.
    private func rememberedStatus(_ sender: String, _ arguments: [BusValue]) -> [BusValue]? {
        guard let service = try? arguments.service(0), let caller = callers.unchanged(sender),
            let status = gate.remembered.status(service, for: caller)
        else { return nil }
        return [.uint32(status.rawValue)]
    }

    private func requestRemembered(_ sender: String, _ arguments: [BusValue]) -> [BusValue]? {
        guard let names = try? arguments.texts(0) else { return nil }
        let services = Set(names.compactMap(Service.init(rawValue:)))
        guard services.count == names.count, let caller = callers.unchanged(sender),
            gate.remembered.grants(services, for: caller)
        else { return nil }
        return [.uint32(0)]
    }

    /// Whether each service of devices is on.
    static func properties(of switches: Switches) -> [String: BusValue] {
        let entries = Service.ofDevices.map { BusEntry(.string($0.rawValue), .bool(!switches.isOff($0))) }
        return ["Switches": .dictionary("sb", entries)]
    }

    private func setSwitch(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let client = try await callers.client(call.sender)
        let service = try call.arguments.service(0)
        guard Service.ofDevices.contains(service) else {
            let known = Service.ofDevices.map(\.rawValue).joined(separator: " or ")
            throw CaptureError(.invalidArgument, "there is no switch for \(service.rawValue), only for \(known)")
        }
        guard let isOn = try call.arguments.argument(1).boolean else {
            throw CaptureError(.invalidArgument, "a switch is on or off: a boolean")
        }
        try await settings.allowSwitch(client, service, on: isOn)
        let wasOff = await gate.currentSwitches.isOff(service)
        var fault: CaptureError?
        do throws(CaptureError) {
            try await gate.setSwitch(service, isOn: isOn)
        } catch {
            fault = error
        }
        // It may be off though that could not be kept; where it stands as before there is nothing to remember.
        if await gate.currentSwitches.isOff(service) != wasOff { note(service, isOn: isOn, by: client.identity) }
        await engine.endRevoked()
        if isOn { await engine.resume() }
        try showSwitches(await gate.currentSwitches)
        if let fault { throw fault }
        return []
    }

    /// Tells the history and the journal of a switch that was turned.
    private func note(_ service: Service, isOn: Bool, by client: ClientIdentity) {
        history.keeper.note(switch: service, isOn: isOn, by: client)
        Journal.send(
            "\(client.program) of \(Users.name(of: client.user)) switches \(service.title) " + (isOn ? "on" : "off"),
            fields: [
                "CAPTURE_SWITCH": isOn ? "on" : "off", "CAPTURE_SERVICE": service.rawValue,
                "CAPTURE_PROGRAM": client.program, "CAPTURE_USER": "\(client.user)",
            ]
        )
    }

    private func getStatus(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let client = try await callers.client(call.sender)
        return [.uint32(try await gate.status(call.arguments.service(0), for: client.identity).rawValue)]
    }

    private func requestAccess(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let client = try await callers.client(call.sender)
        var services: Set<Service> = []
        for name in try call.arguments.texts(0) { services.insert(try Service(named: name)) }
        guard !services.isEmpty else { throw CaptureError(.invalidArgument, "access to no service was requested") }
        return [.uint32(try await requests.begin(services, for: client))]
    }

    private func whoAmI(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let identity = try await callers.client(call.sender).identity
        var facts: [String: BusValue] = [
            "program": .string(identity.program),
            "tier": .string(identity.tier.rawValue),
            "user": .string(Users.name(of: identity.user)),
            "uid": .uint32(identity.user),
            "pid": .uint32(UInt32(clamping: identity.pid)),
            "byPid": .bool(identity.parts.isByPid),
            "name": .string(identity.name),
            "detail": .string(identity.detail),
            "unit": .string(identity.parts.unit),
            "session": .string(identity.parts.session),
            "sandbox": .string(identity.parts.sandbox),
            "label": .string(identity.parts.label),
        ]
        facts.merge(AuthorizationObject.describe(identity.executable)) { $1 }
        return [.properties(facts)]
    }

    private static func describe(_ file: ExecutableFile?) -> [String: BusValue] {
        guard let file else { return [:] }
        return [
            "executable": .string(file.path), "device": .uint64(file.device), "inode": .uint64(file.inode),
            "isProtected": .bool(file.isProtected),
        ]
    }

    private func list(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let client = try await callers.client(call.sender)
        let rows = try await gate.list().filter { client.mayList($0.user, $0.program) }
        var entries: [[String: BusValue]] = []
        for row in rows {
            let verdict = await gate.verdict(on: row)
            let isRestricted = verdict.decision == .restrict
            let facts: [String: BusValue] = [
                "user": .string(Users.name(of: row.user)),
                "program": .string(row.program),
                "tier": .string(row.tier.rawValue),
                "service": .string(row.service.rawValue),
                "status": .string((isRestricted ? .restricted : row.status).word),
                "stored": .string(row.status.word),
                "policy": .string(isRestricted ? verdict.place : ""),
                "reason": .string(row.reason.rawValue),
                "time": .int64(row.time.wall),
                "detail": .string(row.detail),
                "lifetime": .string(row.lifetime.word),
                "ends": .int64(await gate.ends(row) ?? 0),
            ]
            entries.append(facts.merging(AuthorizationObject.describe(row.executable)) { $1 })
        }
        return [.propertyList(entries)]
    }

    private func getProgramStatus(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let client = try await callers.client(call.sender)
        let user = try Users.id(of: call.arguments.text(0), caller: client.identity)
        let program = try call.arguments.text(1)
        guard client.mayList(user, program) else {
            throw CaptureError(.notPermitted, "answers of another user are shown to root alone")
        }
        let stored = try await gate.statuses(user: user, program: program)
        return [AccessRequests.table(Service.allCases.map { ($0, stored[$0] ?? .notDetermined) })]
    }

    private func explain(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let client = try await callers.client(call.sender)
        let name = try call.arguments.text(0)
        let program = try call.arguments.text(1)
        var services: [Service] = []
        for service in try call.arguments.texts(2) { services.append(try Service(named: service)) }
        let asked = services.isEmpty ? Service.allCases : services
        let explaining = Explaining(gate: gate, agents: agents, commandLine: commandLine)
        if program.isEmpty {
            guard name.isEmpty else {
                throw CaptureError(.invalidArgument, "a user is given with a program; the caller itself has one")
            }
            return [.propertyList(await explaining.explain(client, asked))]
        }
        let user = try Users.id(of: name, caller: client.identity)
        guard client.mayList(user, program) else {
            throw CaptureError(.notPermitted, "answers of another user are shown to root alone")
        }
        // Whom a unit runs as is not its caller's matter: unless it is said, it is not known.
        let known = name.isEmpty && ClientIdentity.isMachines(program) ? nil : user
        return [.propertyList(try await explaining.explain(program, user: known, asked))]
    }

    private func set(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        try await set(call, lifetime: .always)
    }

    private func setFor(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        try await set(call, lifetime: try LifetimeCoding.option(call.arguments.properties(4)))
    }

    private func set(_ call: BusCall, lifetime: GrantLifetime) async throws(CaptureError) -> [BusValue] {
        let client = try await callers.client(call.sender)
        let user = try Users.id(of: call.arguments.text(0), caller: client.identity)
        let program = try call.arguments.text(1)
        let service = try call.arguments.service(2)
        let word = try call.arguments.text(3)
        guard let status = AuthorizationStatus(word: word) else {
            throw CaptureError(.invalidArgument, "unknown answer '\(word)', expected authorized or denied")
        }
        let owner = ClientIdentity.answerUser(of: program, user: user)
        // Whoever may not at all first; nobody types a password for what policy forbids anyway.
        try await settings.allow(client, on: owner)
        try await gate.checkSettable(user: user, program: program, service: service)
        let loosening = status == .denied ? nil : "let \(program) use \(service.title)"
        try await settings.allow(client, on: owner, loosening: loosening)
        try await gate.set(
            user: user,
            program: program,
            service: service,
            status: status,
            lifetime: lifetime,
            most: client.identity.user == 0 ? nil : AuthorizationObject.mostSettings
        )
        await engine.endRevoked()
        try listeners.tell(bus, of: status, for: service, user: owner, program: program)
        return []
    }

    /// How many answers a user may set: a no is free, for whichever program, and nobody has that many of them.
    static let mostSettings = 10_000

    private func reset(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let client = try await callers.client(call.sender)
        let name = try call.arguments.text(0)
        let program = try call.arguments.text(1)
        let word = try call.arguments.text(2)
        let service = word.isEmpty ? nil : try Service(named: word)
        // Without a name: one's own answers; root's "without a name" is everybody's.
        let user: UInt32? =
            name.isEmpty && client.identity.user == 0 ? nil : try Users.id(of: name, caller: client.identity)
        let owner = user.map { program.isEmpty ? $0 : ClientIdentity.answerUser(of: program, user: $0) }
        let going = try await gate.list().filter { row in
            (owner == nil || row.user == owner) && (program.isEmpty || row.program == program)
                && (service == nil || row.service == service)
        }
        let denied = going.filter { $0.status == .denied }
        let forgetsDenials = !denied.isEmpty
        try await settings.allow(client, on: owner, loosening: AuthorizationObject.forgetting(denied))
        let count = try await gate.reset(
            user: owner,
            program: program.isEmpty ? nil : program,
            service: service,
            // A no that came since then is not forgotten with what is free to forget.
            denials: forgetsDenials || client.identity.user == 0
        )
        await engine.endRevoked()
        for row in going {
            try listeners.tell(bus, of: .notDetermined, for: row.service, user: row.user, program: row.program)
        }
        return [.uint32(UInt32(clamping: count))]
    }

    /// What forgetting answers makes possible; `nil` for nothing.
    private static func forgetting(_ denied: [StoredAnswer]) -> String? {
        guard let first = denied.first else { return nil }
        let others = denied.count > 1 ? " and \(denied.count - 1) more" : ""
        return "forget that \(first.program) was denied \(first.service.title)\(others)"
    }

    private func getHistory(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let client = try await callers.client(call.sender)
        return try await history.answer(call.arguments.properties(0), to: client.identity)
    }

    private func registerAgent(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let client = try await callers.client(call.sender)
        let options = try call.arguments.properties(1)
        for key in options.keys where key != "inline" && key != "kind" {
            throw CaptureError(.invalidArgument, "an agent has no option '\(DisplayText.neutralized(key, limit: 64))'")
        }
        var isInline = false
        if let value = options["inline"] {
            guard let flag = value.boolean else {
                throw CaptureError(.invalidArgument, "the option 'inline' of an agent is a boolean")
            }
            isInline = flag
        }
        try settings.mayAnswer(client)
        if isInline { try await settings.isOwnTerminal(client) }
        try await agents.register(
            client.identity,
            connection: call.sender,
            path: try call.arguments.text(0),
            isInline: isInline
        )
        return []
    }

    private func unregisterAgent(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        await agents.unregister(call.sender)
        return []
    }

    private func answer(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let client = try await callers.client(call.sender)
        try settings.mayAnswer(client)
        var answers: [Service: PersonsAnswer] = [:]
        for (name, value) in try call.arguments.properties(1) {
            answers[try Service(named: name)] = PersonsAnswer(value.boolean ?? false)
        }
        try await agents.answer(call.arguments.text(0), from: call.sender, answers)
        return []
    }

    private func answerFor(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let client = try await callers.client(call.sender)
        try settings.mayAnswer(client)
        let answers = try LifetimeCoding.answers(call.arguments.properties(1), now: AnswerTime.now.wall)
        try await agents.answer(call.arguments.text(0), from: call.sender, answers)
        return []
    }

    private func dismiss(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let client = try await callers.client(call.sender)
        try settings.mayAnswer(client)
        try await agents.answer(call.arguments.text(0), from: call.sender, nil)
        return []
    }
}

extension SessionClient {
    /// Whether the caller may see what a user's program was answered: its own, the machine's (whom it may be asked about),
    /// all for root. Programs that root runs are root's own, though the machine's are stored under the same number.
    func mayList(_ user: UInt32, _ program: String) -> Bool {
        identity.user == user || identity.user == 0 || ClientIdentity.isMachines(program)
    }
}
