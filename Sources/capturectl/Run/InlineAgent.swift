import CaptureKit

/// Asks for this command's own consent on its own terminal, while it waits to start.
enum InlineAgent {
    /// Runs `body` with an agent on the terminal, when there is one.
    ///
    /// Without a terminal, or where the daemon does not take this one, other agents are asked, if any; that this one was
    /// not taken is told when there was no other.
    static func during<Result: Sendable>(
        _ daemon: CaptureDaemon,
        _ body: () async throws(CaptureError) -> Result
    ) async throws(CaptureError) -> Result {
        var agent: PromptAgent?
        var refusal: CaptureError?
        if TerminalPrompt.isPossible {
            let prompt = TerminalPrompt()
            do throws(CaptureError) {
                agent = try await PromptAgent.register(on: daemon, isInline: true) { await prompt.ask($0) }
            } catch {
                if error.code == .unreachable { throw error }
                refusal = error
            }
        }
        defer { withExtendedLifetime(agent) {} }
        do throws(CaptureError) {
            return try await body()
        } catch {
            if let refusal, error.code == .nobodyToAsk {
                Output.message("this terminal is not asked on: \(Printable.text(refusal.message, limit: 1000))")
            }
            throw error
        }
    }
}
