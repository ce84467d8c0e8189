import CaptureBus
import CaptureCore
import CaptureKit

extension PromptAgent {
    /// Has a person confirm what a program is about to do; cancelled when the question is withdrawn.
    public typealias Confirmer = @Sendable (ConfirmRequest) async -> PromptAnswer

    /// Puts a question of `Confirm`'s to the person.
    ///
    /// - Throws: `nobodyToAsk` where this agent asks about access alone, `invalidArgument` for a question that it does
    ///   not understand.
    static func put(
        _ arguments: [BusValue],
        to questions: Questions,
        _ confirm: Confirmer?
    ) async throws(CaptureError) {
        let request = try ConfirmRequest(bus: arguments)
        guard let confirm else {
            throw CaptureError(.nobodyToAsk, "this agent only asks about access; it confirms nothing")
        }
        try await questions.put(request.question.cookie) { { await confirm(request) } }
    }
}
