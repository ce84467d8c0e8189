import CaptureKit

/// Asks for this command's own consent on its own terminal, while it waits to start.
enum InlineAgent {
    /// Runs `body` with an agent on the terminal, when there is one.
    ///
    /// Without a terminal, or where the daemon does not take this one, other agents are asked, if any.
    static func during<Result: Sendable>(
        _ daemon: CaptureDaemon,
        _ body: () async throws(CaptureError) -> Result
    ) async throws(CaptureError) -> Result {
        var agent: PromptAgent?
        if TerminalPrompt.isPossible {
            let prompt = TerminalPrompt()
            do throws(CaptureError) {
                agent = try await PromptAgent.register(on: daemon, isInline: true) { await prompt.ask($0) }
            } catch  where error.code != .unreachable {
                Output.message("this terminal cannot be asked on: \(Printable.text(error.message, limit: 1000))")
            }
        }
        defer { withExtendedLifetime(agent) {} }
        return try await body()
    }
}
