import Authorization
import CaptureBus
import CaptureCore
import CaptureEngine

/// What decides about a program, and whom a start would ask now.
struct Explaining: Sendable {
    let gate: AuthorizationGate
    let agents: AgentRegistry
    let commandLine: ShippedCommandLine

    /// The caller itself, as it runs.
    func explain(_ client: SessionClient, _ services: [Service]) async -> [[String: BusValue]] {
        var entries: [[String: BusValue]] = []
        for explanation in await gate.explain(services, for: client.identity) {
            entries.append(await entry(explanation, client.identity, on: client.connection))
        }
        return entries
    }

    /// A program that is named.
    ///
    /// - Parameter user: Whom it would run as; `nil` when that is not known.
    func explain(_ program: String, user: UInt32?, _ services: [Service]) async throws(CaptureError)
        -> [[String: BusValue]]
    {
        let (client, explanations) = try await gate.explain(services, program: program, user: user)
        var entries: [[String: BusValue]] = []
        for explanation in explanations { entries.append(await entry(explanation, client, on: "")) }
        return entries
    }

    private func entry(
        _ explanation: Explanation,
        _ client: ClientIdentity,
        on connection: String
    ) async -> [String: BusValue] {
        let (verdict, answer) = (explanation.verdict, explanation.answer)
        var start = await start(explanation, client, on: connection)
        if start.exitCode == 0, let absence = await gate.absence(of: client) { start = Start(absence) }
        return [
            "program": .string(client.program),
            "tier": .string(client.tier.rawValue),
            "service": .string(explanation.service.rawValue),
            "status": .string(explanation.status.word),
            "follows": .string(explanation.source == explanation.service ? "" : explanation.source.rawValue),
            "decides": .string(explanation.decider.rawValue),
            "policy": .string(verdict.decision?.rawValue ?? ""),
            "policy-source": .string(verdict.place),
            "policy-fault": .string(verdict.fault),
            "policy-possible": .strings(verdict.possible.map { "\($0.place) says \($0.decision.rawValue)" }),
            "stored": .string(answer?.status.word ?? ""),
            "reason": .string(answer?.reason.rawValue ?? ""),
            "time": .int64(answer?.time.wall ?? 0),
            "start": .string(start.word),
            "exit-code": .uint32(UInt32(clamping: start.exitCode)),
            "asks": .string(start.asks),
            "message": .string(start.message),
        ]
    }

    private struct Start {
        var word: String
        var exitCode: Int32 = 0
        var asks = ""
        var message = ""

        init(asks: String, _ message: String) {
            word = "asks"
            self.asks = asks
            self.message = message
        }

        init(_ error: CaptureError?) {
            word = error == nil ? "starts" : "refused"
            exitCode = error?.code.exitCode ?? 0
            message = error?.message ?? "it captures without a question"
        }

        /// What is had without a question.
        init(_ service: Service, isLimited: Bool) {
            self.init(nil)
            guard !Service.ofDevices.contains(service) else { return }
            message = "it may \(Service.action([service], isLimited: isLimited)) without a question"
        }
    }

    private func start(_ explanation: Explanation, _ client: ClientIdentity, on connection: String) async -> Start {
        switch explanation.outcome {
        case .starts: return Start(explanation.service, isLimited: explanation.status == .limited)
        case .refused(let error): return Start(error)
        case .asks(let name):
            let what = "whether \(name) may \(Service.action([explanation.service]))"
            if let agent = await agents.agent(for: client, on: connection) {
                let user = Users.name(of: agent.identity.user)
                return Start(asks: user, "\(user) is asked \(what), by the agent in process \(agent.identity.pid)")
            }
            // It brings an agent of its own along, where it is started on a terminal.
            if commandLine.isRun(by: client) {
                let user = Users.name(of: client.user)
                return Start(
                    asks: user,
                    "\(user) is asked \(what), on the terminal that it is started on; without one nobody is (exit 75)"
                )
            }
            return Start(agents.nobody(toAskAbout: client, [explanation.service]))
        }
    }
}
