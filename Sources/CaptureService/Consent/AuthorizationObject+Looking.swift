import Authorization
import CaptureBus
import CaptureCore
import CaptureEngine
import CaptureMessages

/// What people look at: answers, what decides, and what happened.
extension AuthorizationObject {
    func list(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let client = try await callers.client(call.sender)
        let listed = try await gate.listed().filter { client.mayList($0.answer.user, $0.answer.program) }
        try await Users.learn(listed.map(\.answer.user))
        return [.records(listed.map(AuthorizationEntry.init))]
    }

    func getProgramStatus(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let client = try await callers.client(call.sender)
        let user = try await Users.find(call.arguments.text(0), caller: client.identity)
        let program = try call.arguments.text(1)
        try client.checkMayList(user, program)
        let stored = try await gate.statuses(user: user, program: program)
        return [AccessQuestions.table(Service.allCases.map { ($0, stored[$0] ?? .notDetermined) })]
    }

    func explain(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let client = try await callers.client(call.sender)
        let name = try call.arguments.text(0)
        let program = try call.arguments.text(1)
        let services = try call.arguments.services(2)
        let asked = services.isEmpty ? Service.allCases : services
        let explaining = Explaining(gate: gate, agents: agents, commandLine: commandLine)
        if program.isEmpty {
            guard name.isEmpty else {
                throw CaptureError(.invalidArgument, "give a program with the user, or neither for the caller")
            }
            return [.records(await explaining.explain(client, asked))]
        }
        let user = try await Users.find(name, caller: client.identity)
        try client.checkMayList(user, program)
        // Whom a unit runs as is not its caller's matter: unless it is said, it is not known.
        let known = name.isEmpty && ClientIdentity.isMachines(program) ? nil : user
        return [.records(try await explaining.explain(program, user: known, asked))]
    }

    func getHistory(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let client = try await callers.client(call.sender)
        return try await history.answer(HistoryFilter(busValue: call.arguments.argument(0)), to: client.identity)
    }
}

extension SessionClient {
    /// Whether the caller may see what a user's program was answered: its user's, the machine's (whom it may be asked about),
    /// all for root; what is in a sandbox only its own. Programs that root runs are root's own, though the machine's are
    /// stored under the same number.
    func mayList(_ user: UInt32, _ program: String) -> Bool {
        if identity.tier == .sandboxed { return identity.user == user && identity.program == program }
        return identity.user == user || identity.user == 0 || ClientIdentity.isMachines(program)
    }

    fileprivate func checkMayList(_ user: UInt32, _ program: String) throws(CaptureError) {
        guard mayList(user, program) else {
            throw CaptureError(.notPermitted, "only root may see another user's answers")
        }
    }
}

extension AuthorizationEntry {
    init(_ entry: ListedAnswer) {
        let row = entry.answer
        self.init()
        user = Users.name(of: row.user)
        program = row.program
        tier = row.tier.rawValue
        service = row.service.rawValue
        status = entry.status
        stored = row.status
        policy = entry.status == .restricted ? entry.verdict.place : ""
        follows = entry.source == row.service ? "" : entry.source.rawValue
        reason = row.reason.rawValue
        usage = row.usage ?? ""
        milliseconds = row.time.wall
        detail = row.detail
        lifetime = row.lifetime.word
        ends = entry.ends
        file = row.executable.map(ProgramFile.init)
    }
}
