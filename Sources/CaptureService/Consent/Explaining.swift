import Authorization
import CaptureCore
import CaptureEngine

/// What decides about a program, and whom a start would ask now.
struct Explaining: Sendable {
    let gate: AuthorizationGate
    let agents: AgentRegistry
    let commandLine: ShippedProgram

    /// The caller itself, as it runs.
    func explain(_ client: SessionClient, _ services: [Service]) async -> [AuthorizationExplanation] {
        var entries: [AuthorizationExplanation] = []
        for explanation in await gate.explain(services, for: client.identity) {
            entries.append(await entry(explanation, client.identity, on: client.connection))
        }
        return entries
    }

    /// A program that is named.
    ///
    /// - Parameter user: Whom it would run as; `nil` when that is not known.
    func explain(_ program: String, user: UInt32?, _ services: [Service]) async throws(CaptureError)
        -> [AuthorizationExplanation]
    {
        let (client, explanations) = try await gate.explain(services, program: program, user: user)
        var entries: [AuthorizationExplanation] = []
        for explanation in explanations { entries.append(await entry(explanation, client, on: "")) }
        return entries
    }

    private func entry(
        _ explanation: Explanation,
        _ client: ClientIdentity,
        on connection: String
    ) async -> AuthorizationExplanation {
        let (verdict, answer) = (explanation.verdict, explanation.answer)
        var shown = await start(explanation, client, on: connection)
        if shown.exitCode == 0, let absence = await gate.absence(of: client) { shown = .starting(absence) }
        shown.program = client.program
        shown.tier = client.tier.rawValue
        shown.service = explanation.service.rawValue
        shown.status = explanation.status
        shown.follows = explanation.source == explanation.service ? "" : explanation.source.rawValue
        shown.decider = explanation.decider.rawValue
        shown.policy = verdict.decision?.rawValue ?? ""
        shown.policySource = verdict.place
        shown.policyFault = verdict.fault
        shown.possibleRules = verdict.possible.map { "\($0.place) says \($0.decision.rawValue)" }
        shown.stored = answer?.status
        shown.reason = answer?.reason.rawValue ?? ""
        shown.milliseconds = answer?.time.wall ?? 0
        shown.lifetime = answer?.lifetime.word ?? ""
        shown.ends = answer?.lifetime.moment
        return shown
    }

    /// What a start would do; the rest is still to be said.
    private func start(
        _ explanation: Explanation,
        _ client: ClientIdentity,
        on connection: String
    ) async -> AuthorizationExplanation {
        switch explanation.outcome {
        case .starts: return .starting(explanation.service, isLimited: explanation.status == .limited)
        case .refused(let error): return .starting(error)
        case .asks(let name):
            let what = "whether \(name) may \(Service.action([explanation.service]))"
            if let agent = await agents.agent(for: client, on: connection) {
                let user = Users.name(of: agent.identity.user)
                return .asking(user, "\(user) is asked \(what), by the agent in process \(agent.identity.pid)")
            }
            // It brings an agent of its own along, where it is started on a terminal.
            if commandLine.isRun(by: client) {
                let user = Users.name(of: client.user)
                return .asking(
                    user,
                    "\(user) is asked \(what), on the terminal that starts it; without one nobody is asked (exit 75)"
                )
            }
            return .starting(agents.nobody(toAskAbout: client, [explanation.service]))
        }
    }
}

extension AuthorizationExplanation {
    /// A start that asks somebody.
    fileprivate static func asking(_ name: String, _ message: String) -> AuthorizationExplanation {
        var explanation = AuthorizationExplanation()
        explanation.start = .asks
        explanation.asks = name
        explanation.message = message
        return explanation
    }

    /// A start that asks nobody, and perhaps fails.
    fileprivate static func starting(_ error: CaptureError?) -> AuthorizationExplanation {
        var explanation = AuthorizationExplanation()
        explanation.start = error == nil ? .starts : .refused
        explanation.exitCode = error?.code.exitCode ?? 0
        explanation.message = error?.message ?? "it captures without a question"
        return explanation
    }

    /// A start that asks nobody, since a service is allowed.
    fileprivate static func starting(_ service: Service, isLimited: Bool) -> AuthorizationExplanation {
        var explanation = starting(nil)
        guard !Service.ofDevices.contains(service) else { return explanation }
        explanation.message = "it may \(Service.action([service], isLimited: isLimited)) without a question"
        return explanation
    }
}
