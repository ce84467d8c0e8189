import CaptureBus
public import CaptureCore
import CaptureKit

extension PromptAgent {
    /// Waits for what a person picks or takes; cancelled when the question is withdrawn.
    public typealias Picking = @Sendable () async -> PromptAnswer

    /// Gets ready to have a person pick from the media library, which the browser shows, or take something new if that is
    /// the request's purpose.
    ///
    /// It is to be quick: the daemon waits for it, 10 s at most. Where it throws, another agent is asked.
    public typealias Picker = @Sendable (PickRequest, PickBrowser) async throws(CaptureError) -> Picking

    /// Puts a question of `Pick`'s to the person.
    ///
    /// - Throws: `nobodyToAsk` where this agent shows no library, or cannot now; `invalidArgument` for a question that it
    ///   does not understand.
    static func put(
        _ arguments: [BusValue],
        to questions: Questions,
        of daemon: CaptureDaemon,
        _ pick: Picker?
    ) async throws(CaptureError) {
        let request = try PickRequest(bus: arguments)
        guard let pick else {
            throw CaptureError(.nobodyToAsk, "this agent shows neither the library nor a camera")
        }
        let browser = PickBrowser(daemon: daemon, cookie: request.question.cookie)
        try await questions.put(request.question.cookie) { () throws(CaptureError) in try await pick(request, browser) }
    }
}
