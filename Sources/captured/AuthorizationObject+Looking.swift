import Authorization
import CaptureBus
import CaptureCore
import CaptureEngine

/// What people look at: answers, what decides, and what happened.
extension AuthorizationObject {
    func list(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let client = try await callers.client(call.sender)
        let listed = try await gate.listed().filter { client.mayList($0.answer.user, $0.answer.program) }
        try await Users.learn(listed.map(\.answer.user))
        var entries: [[String: BusValue]] = []
        for entry in listed {
            let row = entry.answer
            let facts: [String: BusValue] = [
                "user": .string(Users.name(of: row.user)),
                "program": .string(row.program),
                "tier": .string(row.tier.rawValue),
                "service": .string(row.service.rawValue),
                "status": .string(entry.status.word),
                "stored": .string(row.status.word),
                "policy": .string(entry.status == .restricted ? entry.verdict.place : ""),
                "follows": .string(entry.source == row.service ? "" : entry.source.rawValue),
                "reason": .string(row.reason.rawValue),
                "time": .int64(row.time.wall),
                "detail": .string(row.detail),
                "lifetime": .string(row.lifetime.word),
                "ends": .int64(entry.ends ?? 0),
            ]
            entries.append(facts.merging(AuthorizationObject.describe(row.executable)) { $1 })
        }
        return [.propertyList(entries)]
    }

    func getProgramStatus(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let client = try await callers.client(call.sender)
        let user = try await Users.find(call.arguments.text(0), caller: client.identity)
        let program = try call.arguments.text(1)
        guard client.mayList(user, program) else {
            throw CaptureError(.notPermitted, "answers of another user are shown to root alone")
        }
        let stored = try await gate.statuses(user: user, program: program)
        return [AccessRequests.table(Service.allCases.map { ($0, stored[$0] ?? .notDetermined) })]
    }

    func explain(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
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
        let user = try await Users.find(name, caller: client.identity)
        guard client.mayList(user, program) else {
            throw CaptureError(.notPermitted, "answers of another user are shown to root alone")
        }
        // Whom a unit runs as is not its caller's matter: unless it is said, it is not known.
        let known = name.isEmpty && ClientIdentity.isMachines(program) ? nil : user
        return [.propertyList(try await explaining.explain(program, user: known, asked))]
    }

    func getHistory(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let client = try await callers.client(call.sender)
        return try await history.answer(call.arguments.properties(0), to: client.identity)
    }
}

extension SessionClient {
    /// Whether the caller may see what a user's program was answered: its own, the machine's (whom it may be asked about),
    /// all for root. Programs that root runs are root's own, though the machine's are stored under the same number.
    func mayList(_ user: UInt32, _ program: String) -> Bool {
        identity.user == user || identity.user == 0 || ClientIdentity.isMachines(program)
    }
}
