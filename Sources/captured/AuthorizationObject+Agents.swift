import Authorization
import CaptureBus
import CaptureCore
import CaptureEngine

/// Agents that ask people, and what these answer.
extension AuthorizationObject {
    func registerAgent(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let client = try await callers.client(call.sender)
        let options = try call.arguments.properties(1)
        for key in options.keys where key != "inline" && key != "kind" {
            throw CaptureError(.invalidArgument, "an agent has no option '\(DisplayText.neutralized(key, limit: 64))'")
        }
        var isInline = false
        if let value = options["inline"] {
            guard let flag = value.boolean else {
                throw CaptureError(.invalidArgument, "the option 'inline' of an agent is a boolean")
            }
            isInline = flag
        }
        try settings.mayAnswer(client)
        if isInline { try await settings.isOwnTerminal(client) }
        try await agents.register(
            client.identity,
            connection: call.sender,
            path: try call.arguments.text(0),
            isInline: isInline
        )
        return []
    }

    func unregisterAgent(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        await agents.unregister(call.sender)
        return []
    }

    func answer(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let client = try await callers.client(call.sender)
        try settings.mayAnswer(client)
        let rows = try call.arguments.properties(1)
        for name in rows.keys where Confirmation.Action(rawValue: name) == nil { _ = try Service(named: name) }
        let answers = rows.mapValues { PersonsAnswer($0.boolean ?? false) }
        try await agents.answer(call.arguments.text(0), from: call.sender, words: answers)
        return []
    }

    func answerFor(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let client = try await callers.client(call.sender)
        try settings.mayAnswer(client)
        let answers = try LifetimeCoding.answers(call.arguments.properties(1), now: AnswerTime.now.wall)
        try await agents.answer(call.arguments.text(0), from: call.sender, answers)
        return []
    }

    func dismiss(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let client = try await callers.client(call.sender)
        try settings.mayAnswer(client)
        try await agents.answer(call.arguments.text(0), from: call.sender, nil)
        return []
    }
}
