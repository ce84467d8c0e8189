import Authorization
import CaptureBus
import CaptureCore

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

    static func describe(_ request: PromptRequest, isInline: Bool) -> BusValue {
        var facts = describe(request.client, request.name, until: request.deadline, isInline: isInline)
        facts["services"] = .strings(request.services.map(\.rawValue))
        facts["reasons"] = .dictionary(
            "ss",
            request.services.map { BusEntry(.string($0.rawValue), .string(request.reasons[$0] ?? "")) }
        )
        facts["lifetimes"] = .strings(GrantLifetime.words)
        facts["limitable"] = .strings(request.services.filter(\.canBeLimited).map(\.rawValue))
        return .properties(facts)
    }

    /// What every question says of who asks.
    static func describe(
        _ client: ClientIdentity,
        _ name: String,
        until deadline: ContinuousClock.Instant,
        isInline: Bool
    ) -> [String: BusValue] {
        // Rounded up: 0 would say that there is no limit.
        let left = max(.zero, ContinuousClock.now.duration(to: deadline)).components
        return [
            "program": .string(client.program),
            "tier": .string(client.tier.rawValue),
            "name": .string(name),
            "detail": .string(client.detail),
            "pid": .uint32(UInt32(clamping: client.pid)),
            "secondsLeft": .uint32(UInt32(clamping: left.seconds + (left.attoseconds > 0 ? 1 : 0))),
            "inline": .bool(isInline),
        ]
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
        var facts = describe(request.client, request.name, until: request.deadline, isInline: isInline)
        facts["action"] = .string(request.action.rawValue)
        facts["count"] = .uint32(UInt32(clamping: request.count))
        facts["names"] = .strings(request.names)
        return .properties(facts)
    }
}
