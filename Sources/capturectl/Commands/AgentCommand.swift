import ArgumentParser
import CaptureKit

struct AgentCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "agent",
        abstract: "Answer questions for consent on this terminal, until Ctrl-C.",
        discussion: "For programs that run without a terminal of their own, when no desktop asks for them."
    )

    @OptionGroup var bus: BusOptions

    func run() async throws {
        guard TerminalPrompt.isPossible else {
            throw CaptureError(.usage, "there is no terminal to ask on: run it in the foreground of one")
        }
        let daemon = try await bus.connect()
        let prompt = TerminalPrompt()
        let agent = try await PromptAgent.register(on: daemon) { await prompt.ask($0) }
        Output.note("questions for consent are put here; Ctrl-C ends that")
        let (ends, feed) = AsyncStream<CaptureError?>.makeStream()
        let interrupts = Interrupts { feed.yield(nil) }
        let events = try await daemon.events()
        let watch = Task {
            for await event in events {
                guard case .daemonVanished = event else { continue }
                feed.yield(CaptureError(.unreachable, "the capture daemon went away"))
            }
            feed.yield(CaptureError(.unreachable, "the connection to the bus is lost"))
        }
        defer {
            watch.cancel()
            withExtendedLifetime(interrupts) {}
        }
        for await end in ends {
            if let end { throw end }
            break
        }
        try await agent.unregister()
    }
}
