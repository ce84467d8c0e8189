import Authorization
import CaptureBus
import CaptureCore
import CaptureMessages
import CaptureSystem

/// The agents, and the questions that are open with them.
///
/// A question has a cookie of 128 random bits; an answer counts once, from the agent that was asked, and not after
/// the question was taken back.
actor AgentRegistry: Prompter {
    struct OpenQuestion {
        var agent: String
        /// What an answer may be about.
        var words: Set<String>
        /// What is to be picked, where that is the question.
        var picking: PickQuestion?
        var waiter: CheckedContinuation<Result<Reply, CaptureError>, Never>?
        /// An answer that came before anybody waited: an agent may answer while its `Ask` is still returning.
        var result: Result<Reply, CaptureError>?
    }

    /// What an agent brought.
    enum Reply: Sendable {
        /// By the words of the services or the action that it was asked about.
        case answers([String: PersonsAnswer])
        case picked(PickedAssets)

        var answers: [String: PersonsAnswer] {
            if case .answers(let answers) = self { answers } else { [:] }
        }
    }

    let bus: BusConnection
    let commandLine: ShippedProgram
    let drivers: TerminalDrivers
    private let refusals: RefusalJournal
    /// Where programs and agents are logged in.
    let logins: LoginSessions
    /// What programs say of themselves.
    let stated: StatedReasons
    /// Which yes takes the person's password.
    private var passwords = PasswordNeeds()
    private(set) var agents: [String: RegisteredAgent] = [:]
    private var questions: [String: OpenQuestion] = [:]
    private var registrations = 0

    init(
        bus: BusConnection,
        commandLine: ShippedProgram,
        drivers: TerminalDrivers = TerminalDrivers(),
        refusals: RefusalJournal = RefusalJournal(),
        logins: LoginSessions,
        stated: StatedReasons = StatedReasons()
    ) {
        self.bus = bus
        self.commandLine = commandLine
        self.drivers = drivers
        self.refusals = refusals
        self.logins = logins
        self.stated = stated
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
    func register(
        _ identity: ClientIdentity,
        connection: String,
        path: String,
        kind: String = "",
        isInline: Bool
    ) throws(CaptureError) {
        let others = agents.values.count { $0.identity.user == identity.user && $0.connection != connection }
        guard others < Self.mostAgents else {
            throw CaptureError(
                .busy,
                "this user already has \(Self.mostAgents) agents, which is the limit; end one of them first"
            )
        }
        registrations += 1
        agents[connection] = RegisteredAgent(
            connection: connection,
            path: path,
            identity: identity,
            kind: kind,
            isInline: isInline,
            order: registrations
        )
    }

    func unregister(_ connection: String) {
        agents[connection] = nil
        for (cookie, question) in questions where question.agent == connection {
            settle(cookie, .failure(AgentRegistry.gone))
        }
    }

    /// The password behind an answer.
    var password: AnswerPassword { AnswerPassword(bus: bus, needs: passwords) }

    /// How many agents there are for whole users, inline ones left out.
    var count: Int { agents.values.count { !$0.isInline } }

    /// Takes an answer by the words of what it is about; `nil` for a question that was closed.
    ///
    /// - Throws: `.notPermitted` for a cookie that is unknown, was used, or belongs to another agent; all alike, so that
    ///   nothing is learned by guessing.
    func answer(_ cookie: String, from connection: String, _ answers: [String: PersonsAnswer]?) throws(CaptureError) {
        let question = try standing(cookie, from: connection)
        guard let answers else {
            settle(cookie, .failure(CaptureError(.dismissed, "the prompt was closed without an answer")))
            return
        }
        guard question.picking == nil, question.words.isSuperset(of: answers.keys) else {
            throw CaptureError(.invalidArgument, "the answer is about something that was not asked")
        }
        let isInline = agents[connection]?.isInline ?? false
        settle(
            cookie,
            .success(
                .answers(
                    answers.mapValues { answer in
                        var answer = answer
                        answer.isInline = isInline
                        return answer
                    }
                )
            )
        )
    }

    func standing(_ cookie: String, from connection: String) throws(CaptureError) -> OpenQuestion {
        guard let question = questions[cookie], question.agent == connection, question.result == nil else {
            throw AgentRegistry.unknownQuestion
        }
        return question
    }

    private static let gone = CaptureError(.nobodyToAsk, "the agent went away before it answered")

    /// Of what an agent says in characters, which goes to the program that asked.
    private static let longestExcuse = 400

    static let unknownQuestion = CaptureError(
        .notPermitted,
        "this agent has no such question open"
    )

    /// Puts a question to the agents of a program's user, one after the other until one brings it before the person.
    ///
    /// - Parameters:
    ///   - call: The question.
    ///   - facts: What an agent is told, which depends on whether it is an inline one.
    /// - Returns: The agent, and what it brought.
    func put(
        _ call: AgentCall,
        _ facts: (_ isInline: Bool) -> BusValue
    ) async throws(CaptureError) -> (agent: RegisteredAgent, reply: Reply) {
        var tried: Set<String> = []
        var objections: [String] = []
        while let agent = nextAgent(
            for: call.client,
            on: call.connection,
            isOfLibrary: call.isOfLibrary,
            except: tried
        ) {
            tried.insert(agent.connection)
            if let why = await objection(to: agent, call.client) {
                refusals.tell(
                    "the agent \(agent.identity.program) (process \(agent.identity.pid)) is not asked about "
                        + "\(call.client.program): \(why)",
                    kind: "\(call.client.program) own agent",
                    fields: ["CAPTURE_CAUSE": "own-agent"],
                    of: call.client
                )
                objections.append(why)
                continue
            }
            do throws(CaptureError) {
                return (agent, try await put(call, facts(agent.isInline), to: agent))
            } catch {
                // An agent that died or does not answer the call makes room for the next one; a person's own
                // dismissal does not.
                guard error.code == .nobodyToAsk || error.code == .unreachable, !Task.isCancelled else { throw error }
                // One that is there and cannot show the question says what it lacks.
                if error.code == .nobodyToAsk, error != AgentRegistry.gone {
                    objections.append(String(error.message.prefix(AgentRegistry.longestExcuse)))
                }
            }
        }
        guard let why = objections.first else { throw nobody(toAskAbout: call.client, call.services) }
        throw CaptureError(.nobodyToAsk, "there is nobody to ask: an agent is there, but \(why)")
    }

    private func put(
        _ call: AgentCall,
        _ facts: BusValue,
        to agent: RegisteredAgent
    ) async throws(CaptureError) -> Reply {
        let cookie = AgentRegistry.makeCookie()
        questions[cookie] = OpenQuestion(agent: agent.connection, words: call.words, picking: call.picking)
        defer { questions[cookie] = nil }
        call.sight.note()
        do throws(CaptureError) {
            _ = try await self.call(agent, call.member, [.string(cookie), facts], timeout: 10)
        } catch {
            // It may get to the call all the same, and show what nobody waits for any more.
            if error.code == .timedOut || error.code == .unreachable { Task { await self.cancel(cookie, at: agent) } }
            throw error
        }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if let result = questions[cookie]?.result {
                    continuation.resume(returning: result)
                } else if agents[agent.connection] == nil {
                    // The agent died while it was being called.
                    continuation.resume(returning: .failure(AgentRegistry.gone))
                } else {
                    // Where the wait was given up during the call, taking back ends it and tells the agent, which has the
                    // question before it by now.
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
        if let agent = agents[question.agent] { await cancel(cookie, at: agent) }
    }

    private func cancel(_ cookie: String, at agent: RegisteredAgent) async {
        // An agent that does not hear it keeps a dialog whose answer no longer counts.
        _ = try? await call(agent, "Cancel", [.string(cookie)], timeout: 10)
    }

    /// How many calls agents of one user may keep waiting at a time. The bus allows 128 for the whole daemon, and a
    /// stopped agent never answers.
    private static let calls = FairSlots<UInt32>(4)

    func call(
        _ agent: RegisteredAgent,
        _ member: String,
        _ arguments: [BusValue],
        timeout: Double
    ) async throws(CaptureError) -> [BusValue] {
        let user = agent.identity.user
        guard await AgentRegistry.calls.take(user) else {
            throw CaptureError(.timedOut, "the question was taken back")
        }
        defer { AgentRegistry.calls.give(user) }
        return try await bus.call(
            agent.connection,
            agent.path,
            CaptureNames.agentInterface,
            member,
            signature: CaptureInterfaces.signature(CaptureNames.agentInterface, member, of: arguments),
            arguments,
            timeout: timeout
        )
    }

    /// The first result counts, and none after it.
    func settle(_ cookie: String, _ result: Result<Reply, CaptureError>) {
        guard let question = questions[cookie], question.result == nil else { return }
        questions[cookie]?.result = result
        questions[cookie]?.waiter = nil
        question.waiter?.resume(returning: result)
    }

    private static func makeCookie() -> String {
        var random = SystemRandomNumberGenerator()
        return [random.next(), random.next()].map { (word: UInt64) in String(word, digits: 16, radix: 16) }.joined()
    }
}
