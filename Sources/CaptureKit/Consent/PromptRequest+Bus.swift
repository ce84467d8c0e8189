import CaptureBus
import CaptureCore

extension PromptRequest {
    /// A request as `Ask` brings it.
    init(bus arguments: [BusValue]) throws(CaptureError) {
        guard arguments.count == 2, let cookie = arguments[0].text, let facts = arguments[1].properties else {
            throw CaptureError(.invalidArgument, "a question comes as a cookie and its facts")
        }
        var services: [AuthorizationService] = []
        for name in facts["services"]?.texts ?? [] {
            guard let service = AuthorizationService(rawValue: name) else {
                throw CaptureError(.invalidArgument, "'\(name)' is no service that this agent can ask about")
            }
            if !services.contains(service) { services.append(service) }
        }
        if services.isEmpty { throw CaptureError(.invalidArgument, "a question names no service") }
        var reasons: [AuthorizationService: String] = [:]
        for (name, value) in facts["reasons"]?.properties ?? [:] {
            if let service = AuthorizationService(rawValue: name) { reasons[service] = value.text }
        }
        self.init(
            cookie: cookie,
            program: facts["program"]?.text ?? "",
            tier: facts["tier"]?.text ?? "",
            name: facts["name"]?.text ?? "",
            detail: facts["detail"]?.text ?? "",
            services: services.sorted(),
            reasons: reasons,
            processID: UInt32(clamping: facts["pid"]?.integer ?? 0),
            secondsLeft: UInt32(clamping: facts["secondsLeft"]?.integer ?? 0),
            isInline: facts["inline"]?.boolean ?? false
        )
        lifetimes = facts["lifetimes"]?.texts ?? []
        limitable = (facts["limitable"]?.texts ?? []).compactMap(AuthorizationService.init)
    }
}

extension PromptChoice {
    /// As `AnswerFor` takes it.
    var busValue: BusValue {
        switch self {
        case .no: .properties(["allowed": .bool(false)])
        case .yes(let lifetime): .properties(PromptChoice.facts(lifetime))
        case .limited(let lifetime): .properties(PromptChoice.facts(lifetime).merging(["limited": .bool(true)]) { $1 })
        }
    }

    private static func facts(_ lifetime: GrantLifetime) -> [String: BusValue] {
        var facts: [String: BusValue] = ["allowed": .bool(true), "lifetime": .string(lifetime.word)]
        facts["until"] = lifetime.moment.map { .int64($0) }
        return facts
    }
}
