import CaptureBus
import CaptureCore

extension PromptAgent {
    /// Has a person pick from the media library, which the browser shows; cancelled when the question is withdrawn.
    public typealias Picker = @Sendable (PickRequest, PickBrowser) async -> PromptAnswer

    /// Puts a question of `Pick`'s to the person.
    ///
    /// - Throws: `nobodyToAsk` where this agent shows no library, `invalidArgument` for a question that it does not
    ///   understand.
    static func put(
        _ arguments: [BusValue],
        to questions: Questions,
        of daemon: CaptureDaemon,
        _ pick: Picker?
    ) throws(CaptureError) {
        let request = try PickRequest(bus: arguments)
        guard let pick else {
            throw CaptureError(.nobodyToAsk, "this agent shows no library, and has nothing picked")
        }
        let browser = PickBrowser(daemon: daemon, cookie: request.cookie)
        questions.put(request.cookie) { await pick(request, browser) }
    }
}
