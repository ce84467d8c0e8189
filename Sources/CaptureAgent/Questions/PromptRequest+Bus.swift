import CaptureBus
import CaptureCore
import CaptureKit
import CaptureMessages

extension PromptRequest {
    /// A request as `Ask` brings it.
    init(bus arguments: [BusValue]) throws(CaptureError) {
        let facts: AskFacts = try Question.facts(arguments)
        var services: [AuthorizationService] = []
        for name in facts.services {
            guard let service = AuthorizationService(rawValue: name) else {
                throw CaptureError(.invalidArgument, "this agent cannot ask about the service '\(name)'")
            }
            if !services.contains(service) { services.append(service) }
        }
        if services.isEmpty { throw CaptureError(.invalidArgument, "the question names no service") }
        self.init(facts.question, services: services.sorted(), reasons: facts.reasons)
        bridge = Bridge(rawValue: facts.bridge)
        lifetimes = facts.lifetimes
        limitable = facts.limitable.compactMap(AuthorizationService.init)
    }
}

extension Question {
    /// Reads the arguments of `Ask`, `Confirm` and `Pick`.
    static func facts<Facts: QuestionFacts>(_ arguments: [BusValue]) throws(CaptureError) -> Facts {
        guard arguments.count == 2, let cookie = arguments[0].text, var facts = Facts(arguments[1]) else {
            throw CaptureError(.invalidArgument, "a question needs a cookie and facts")
        }
        facts.question.cookie = cookie
        return facts
    }
}
