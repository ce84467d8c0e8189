import CaptureAgent
import CaptureKit

/// Asks for this command's own consent on its own terminal, while it waits to start.
enum InlineAgent {
    /// Runs `body` with an agent on the terminal, when there is one.
    ///
    /// - Parameter pictures: How pictures are shown where something is picked.
    ///
    /// Without a terminal, or where the daemon does not take this one, other agents are asked, if any; that this one was
    /// not taken is told when there was no other.
    static func during<Result: Sendable>(
        _ daemon: CaptureDaemon,
        pictures: PictureOptions.Choice = .auto,
        _ body: () async throws(CaptureError) -> Result
    ) async throws(CaptureError) -> Result {
        var agent: PromptAgent?
        var refusal: CaptureError?
        let prompt = TerminalPrompt()
        if TerminalPrompt.isPossible {
            do throws(CaptureError) {
                agent = try await PromptAgent.register(
                    on: daemon,
                    isInline: true,
                    isPossible: { TerminalPrompt.isPossible },
                    describe: PersonalMetadata.describe,
                    confirm: { await prompt.confirm($0) },
                    pick: { prompt.choosing($0, from: $1, pictures: pictures) },
                    answer: { await prompt.ask($0) }
                )
            } catch {
                if error.code == .unreachable { throw error }
                refusal = error
            }
        }
        do throws(CaptureError) {
            let result = try await body()
            await end(&agent, prompt)
            return result
        } catch {
            await end(&agent, prompt)
            if let refusal, error.code == .nobodyToAsk {
                Output.message("cannot ask on this terminal: \(Printable.text(refusal.message, limit: 1000))")
            }
            throw error
        }
    }

    /// Withdraws the open question before anything else is printed on the same terminal.
    private static func end(_ agent: inout PromptAgent?, _ prompt: TerminalPrompt) async {
        withExtendedLifetime(agent) {}
        agent = nil
        await prompt.settle()
    }
}
