import Authorization
import CaptureBus
import CaptureCore
import CaptureMessages

/// What agents are asked and told: consents, and what is to be confirmed.
extension AgentRegistry {
    func ask(_ request: PromptRequest) async throws(CaptureError) -> [Service: PersonsAnswer] {
        let call = AgentCall(
            member: "Ask",
            client: request.client,
            connection: request.session,
            services: request.services,
            words: Set(request.services.map(\.rawValue)),
            sight: request.sight
        )
        let (agent, reply) = try await put(call) { AgentRegistry.describe(request, isInline: $0) }
        var answers: [Service: PersonsAnswer] = [:]
        for (word, answer) in reply.answers { answers[try Service(named: word)] = answer }
        try await password.check(answers, to: request, from: agent)
        return answers
    }

    private static func describe(_ request: PromptRequest, isInline: Bool) -> BusValue {
        var facts = AskFacts()
        facts.question = Question(request.client, request.name, until: request.deadline, isInline: isInline)
        facts.services = request.services.map(\.rawValue)
        for service in request.services { facts.reasons[service] = request.reasons[service] ?? "" }
        facts.bridge = request.bridge?.rawValue ?? ""
        facts.lifetimes = GrantLifetime.words
        facts.limitable = request.services.filter(\.canBeLimited).map(\.rawValue)
        return facts.busValue
    }

    func confirm(_ request: Confirmation) async throws(CaptureError) -> Bool {
        let word = request.action.rawValue
        let call = AgentCall(
            member: "Confirm",
            client: request.client,
            connection: request.session,
            services: [.libraryReadWrite],
            words: [word],
            sight: request.sight
        )
        let (agent, reply) = try await put(call) { AgentRegistry.describe(request, isInline: $0) }
        guard reply.answers[word]?.isAllowed == true else { return false }
        try await password.check(request, from: agent)
        return true
    }

    private static func describe(_ request: Confirmation, isInline: Bool) -> BusValue {
        var facts = ConfirmFacts()
        facts.question = Question(request.client, request.name, until: request.deadline, isInline: isInline)
        facts.action = request.action.rawValue
        facts.count = UInt32(clamping: request.count)
        facts.names = request.names
        return facts.busValue
    }
}

extension Question {
    /// What every question says of who asks.
    init(_ client: ClientIdentity, _ name: String, until deadline: ContinuousClock.Instant, isInline: Bool) {
        // Rounded up: 0 would say that there is no limit.
        let left = max(.zero, ContinuousClock.now.duration(to: deadline)).components
        self.init()
        program = client.program
        tier = client.tier.rawValue
        self.name = name
        detail = client.detail
        isReplaceable = client.tier == .claimed && client.executable?.isProtected == false
        processID = UInt32(clamping: client.pid)
        secondsLeft = UInt32(clamping: left.seconds + (left.attoseconds > 0 ? 1 : 0))
        self.isInline = isInline
    }
}
