import Authorization
import CaptureBus
import CaptureCore
import CaptureEngine
import CaptureMessages

/// Agents that ask people, and what these answer.
extension AuthorizationObject {
    func registerAgent(_ call: BusCall) async throws(CaptureError) {
        let client = try await callers.client(call.sender)
        let options = try AgentOptions(busValue: call.arguments.argument(1))
        try settings.mayAnswer(client)
        if options.isInline { try await settings.isOwnTerminal(client) }
        try await agents.register(
            client.identity,
            connection: call.sender,
            path: try call.arguments.text(0),
            kind: DisplayText.neutralized(options.kind, limit: 32),
            isInline: options.isInline
        )
        // If the agent left meanwhile, that was heard before it was registered.
        if await callers.identity(of: call.sender) == nil { await agents.unregister(call.sender) }
    }

    func listAgents(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let client = try await callers.client(call.sender)
        let seen = await agents.agents(seenBy: client.identity)
        try await Users.learn(seen.map(\.identity.user))
        return [.records(seen.map(AgentSummary.init))]
    }

    func unregisterAgent(_ call: BusCall) async throws(CaptureError) {
        await agents.unregister(call.sender)
    }

    func answer(_ call: BusCall) async throws(CaptureError) {
        let client = try await callers.client(call.sender)
        try settings.mayAnswer(client)
        let answers = try LifetimeCoding.answers(call.arguments.properties(1), now: AnswerTime.now.wall)
        try await agents.answer(call.arguments.text(0), from: call.sender, answers)
    }

    func dismiss(_ call: BusCall) async throws(CaptureError) {
        let client = try await callers.client(call.sender)
        try settings.mayAnswer(client)
        try await agents.answer(call.arguments.text(0), from: call.sender, nil)
    }
}
