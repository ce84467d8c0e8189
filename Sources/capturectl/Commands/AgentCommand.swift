import ArgumentParser
import CaptureKit

struct AgentCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "agent",
        abstract: "Answer questions for consent on this terminal or on the desktop, until Ctrl-C.",
        discussion: """
            For programs that run without a terminal of their own. What one has you pick from the media library is listed \
            on this terminal, with pictures where it shows them. On a desktop captured-agent.service does it, with \
            --desktop: each question is the desktop's own dialog, shown by what portals.conf(5) and the files below \
            xdg-desktop-portal/portals name for org.freedesktop.impl.portal.Access, and what you are to pick is shown in a \
            window of captured-picker, which takes GTK 3; where that cannot be started the next agent is asked. It waits \
            for the daemon when that is away, and keeps denials of Flatpak programs, and denials only, in the desktop's \
            store of permissions, so that the desktop's camera portal refuses them too.
            """
    )

    @Flag(help: "Ask in the desktop's own dialog and in windows, in the place of this terminal.")
    var desktop = false

    @OptionGroup var pictures: PictureOptions

    @OptionGroup var bus: BusOptions

    func run() async throws {
        if desktop { return try await DesktopAgent.run(on: try await bus.connect()) }
        try await runOnTerminal()
    }

    private func runOnTerminal() async throws {
        guard TerminalPrompt.isPossible else {
            throw CaptureError(
                .usage,
                "there is no terminal to ask on: run it in the foreground of one, or with --desktop"
            )
        }
        let daemon = try await bus.connect()
        let prompt = TerminalPrompt()
        let shown = pictures.shown
        let agent = try await PromptAgent.register(
            on: daemon,
            confirm: { await prompt.confirm($0) },
            pick: { prompt.picking($0, from: $1, pictures: shown) },
            answer: { await prompt.ask($0) }
        )
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
