import Authorization
import CaptureBus
import CaptureCore

/// An agent that is registered: a client that shows prompts to its user.
struct RegisteredAgent: Sendable {
    /// Its connection.
    var connection: String
    /// Its object of the Agent interface.
    var path: String
    /// The program behind the connection.
    var identity: ClientIdentity
    /// Whether it serves just the requests of its own connection, on its own terminal.
    var isInline: Bool
    /// The order of registration; the latest is asked first.
    var order: Int
}

/// The agents, and the questions that are open with them.
///
/// A question has a cookie of 128 random bits; an answer counts once, from the agent that was asked, and not after
/// the question was taken back.
actor AgentRegistry: Prompter {
    private struct Question {
        var agent: String
        var services: [Service]
        var waiter: CheckedContinuation<Result<[Service: PersonsAnswer], CaptureError>, Never>?
        /// An answer that came before anybody waited: an agent may answer while its `Ask` is still returning.
        var result: Result<[Service: PersonsAnswer], CaptureError>?
    }

    private let bus: BusConnection
    let commandLine: ShippedCommandLine
    let drivers: TerminalDrivers
    private let refusals: RefusalJournal
    /// Where programs and agents are logged in.
    let logins: LoginSessions
    /// Which yes takes the person's password.
    private var passwords = PasswordNeeds()
    private(set) var agents: [String: RegisteredAgent] = [:]
    private var questions: [String: Question] = [:]
    private var registrations = 0

    init(
        bus: BusConnection,
        commandLine: ShippedCommandLine,
        drivers: TerminalDrivers = TerminalDrivers(),
        refusals: RefusalJournal = RefusalJournal(),
        logins: LoginSessions
    ) {
        self.bus = bus
        self.commandLine = commandLine
        self.drivers = drivers
        self.refusals = refusals
        self.logins = logins
    }

    /// Which yes takes the person's password, from the next answer on; none unless it is said.
    func setPasswords(_ needs: PasswordNeeds) {
        passwords = needs
    }

    /// How many agents a user may have at a time: of each one the bus tells when it goes, and each may be asked in turn.
    static let mostAgents = 16

    /// Registers an agent; a connection has one, the latest.
    ///
    /// - Throws: `.busy` when the user has as many as one may have.
    func register(_ identity: ClientIdentity, connection: String, path: String, isInline: Bool) throws(CaptureError) {
        let others = agents.values.count { $0.identity.user == identity.user && $0.connection != connection }
        guard others < Self.mostAgents else {
            throw CaptureError(
                .busy,
                "this user has \(Self.mostAgents) agents registered already, and may have no more; end one of them first"
            )
        }
        registrations += 1
        agents[connection] = RegisteredAgent(
            connection: connection,
            path: path,
            identity: identity,
            isInline: isInline,
            order: registrations
        )
    }

    func unregister(_ connection: String) {
        agents[connection] = nil
        for (cookie, question) in questions where question.agent == connection {
            settle(cookie, .failure(CaptureError(.nobodyToAsk, "the agent went away before an answer was given")))
        }
    }

    /// How many agents there are for whole users, inline ones left out.
    var count: Int { agents.values.count { !$0.isInline } }

    /// Takes an answer.
    ///
    /// - Throws: `.notPermitted` for a cookie that is unknown, was used, or belongs to another agent; all alike, so that
    ///   nothing is learned by guessing.
    func answer(_ cookie: String, from connection: String, _ answers: [Service: PersonsAnswer]?) throws(CaptureError) {
        guard let question = questions[cookie], question.agent == connection, question.result == nil else {
            throw CaptureError(.notPermitted, "there is no such question open for this agent")
        }
        guard let answers else {
            settle(cookie, .failure(CaptureError(.dismissed, "the prompt was closed without an answer")))
            return
        }
        guard Set(answers.keys).isSubset(of: question.services) else {
            throw CaptureError(.invalidArgument, "the answer is about something that was not asked")
        }
        let isInline = agents[connection]?.isInline ?? false
        settle(
            cookie,
            .success(
                answers.mapValues { answer in
                    var answer = answer
                    answer.isInline = isInline
                    return answer
                }
            )
        )
    }

    func ask(_ request: PromptRequest) async throws(CaptureError) -> [Service: PersonsAnswer] {
        var tried: Set<String> = []
        var objections: [String] = []
        while let agent = nextAgent(for: request.client, on: request.session, except: tried) {
            tried.insert(agent.connection)
            if let why = await objection(to: agent, request.client) {
                refusals.tell(
                    "the agent \(agent.identity.program) (process \(agent.identity.pid)) is not asked about "
                        + "\(request.client.program): \(why)",
                    kind: "\(request.client.program) own agent",
                    fields: ["CAPTURE_CAUSE": "own-agent"],
                    of: request.client
                )
                objections.append(why)
                continue
            }
            let answers: [Service: PersonsAnswer]
            do throws(CaptureError) {
                answers = try await ask(agent, request)
            } catch {
                // An agent that died or does not answer the call makes room for the next one; a person's own
                // dismissal does not.
                guard error.code == .nobodyToAsk || error.code == .unreachable, !Task.isCancelled else { throw error }
                continue
            }
            try await AnswerPassword(bus: bus, needs: passwords).check(answers, to: request, from: agent)
            return answers
        }
        guard let why = objections.first else { throw nobody(toAskAbout: request.client, request.services) }
        throw CaptureError(.nobodyToAsk, "there is nobody to ask: an agent is there, but \(why)")
    }

    private func ask(
        _ agent: RegisteredAgent,
        _ request: PromptRequest
    ) async throws(CaptureError) -> [Service: PersonsAnswer] {
        let cookie = AgentRegistry.makeCookie()
        questions[cookie] = Question(agent: agent.connection, services: request.services)
        defer { questions[cookie] = nil }
        request.sight.note()
        _ = try await bus.call(
            agent.connection,
            agent.path,
            CaptureNames.agentInterface,
            "Ask",
            signature: "sa{sv}",
            [.string(cookie), AgentRegistry.describe(request, isInline: agent.isInline)],
            timeout: 10
        )
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if let result = questions[cookie]?.result {
                    continuation.resume(returning: result)
                } else if agents[agent.connection] == nil || Task.isCancelled {
                    // The agent died, or the wait was given up, while it was being called.
                    let gone = CaptureError(.nobodyToAsk, "the agent went away before an answer was given")
                    continuation.resume(returning: .failure(gone))
                } else {
                    questions[cookie]?.waiter = continuation
                }
            }
        } onCancel: {
            Task { await self.takeBack(cookie) }
        }
        return try result.get()
    }

    private func takeBack(_ cookie: String) async {
        guard let question = questions[cookie], question.result == nil else { return }
        settle(cookie, .failure(CaptureError(.timedOut, "the question was taken back")))
        guard let agent = agents[question.agent] else { return }
        // An agent that does not hear it keeps a dialog whose answer no longer counts.
        _ = try? await bus.call(
            agent.connection,
            agent.path,
            CaptureNames.agentInterface,
            "Cancel",
            signature: "s",
            [.string(cookie)],
            timeout: 10
        )
    }

    /// The first result counts, and none after it.
    private func settle(_ cookie: String, _ result: Result<[Service: PersonsAnswer], CaptureError>) {
        guard let question = questions[cookie], question.result == nil else { return }
        questions[cookie]?.result = result
        questions[cookie]?.waiter = nil
        question.waiter?.resume(returning: result)
    }

    private static func makeCookie() -> String {
        var random = SystemRandomNumberGenerator()
        return [random.next(), random.next()].map { (word: UInt64) in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }

    private static func describe(_ request: PromptRequest, isInline: Bool) -> BusValue {
        // Rounded up: 0 would say that there is no limit.
        let left = max(.zero, ContinuousClock.now.duration(to: request.deadline)).components
        return .properties([
            "program": .string(request.client.program),
            "tier": .string(request.client.tier.rawValue),
            "name": .string(request.name),
            "detail": .string(request.client.detail),
            "pid": .uint32(UInt32(clamping: request.client.pid)),
            "services": .strings(request.services.map(\.rawValue)),
            "reasons": .dictionary(
                "ss",
                request.services.map { BusEntry(.string($0.rawValue), .string(request.reasons[$0] ?? "")) }
            ),
            "secondsLeft": .uint32(UInt32(clamping: left.seconds + (left.attoseconds > 0 ? 1 : 0))),
            "inline": .bool(isInline),
            "lifetimes": .strings(GrantLifetime.words),
            "limitable": .strings(request.services.filter(\.canBeLimited).map(\.rawValue)),
        ])
    }
}
