import CaptureAgent
import ArgumentParser
import CaptureBus
import CaptureKit
import CaptureSystem

struct AgentCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "agent",
        abstract: "Ask for consent on this terminal or on the desktop, until Ctrl-C.",
        discussion: """
            An agent asks for programs that run without a terminal of their own. If a program lets you pick from the \
            media library, this terminal lists it, with pictures if it can show them.

            On a desktop, captured-agent.service runs this command with --desktop. The agent then asks in the \
            desktop's own dialog, which a portal backend shows: the one that portals.conf(5), or else a file in \
            xdg-desktop-portal/portals, names for org.freedesktop.impl.portal.Access. You pick in a window of \
            captured-picker, which needs GTK 3; if that does not start, the next agent is asked. The agent waits for \
            the daemon while it is away. It also puts denials of Flatpak programs, and only denials, into the \
            desktop's permission store, so that the desktop's camera portal refuses them, too.
            """
    )

    @Flag(help: "Ask in the desktop's own dialog and in windows instead of on this terminal.")
    var desktop = false

    @OptionGroup var pictures: PictureOptions

    @OptionGroup var bus: BusOptions

    func run() async throws {
        if desktop { try await runOnDesktop() } else { try await runOnTerminal() }
    }

    private func runOnDesktop() async throws(CaptureError) {
        do throws(CaptureError) {
            try await DesktopAgent.run(on: try await bus.connect())
        } catch {
            // For `systemctl --user status captured-agent`, which shows the journal only to those who may read it.
            ServiceManager.tell(.status(Printable.text(error.message, limit: 1000)))
            throw error
        }
    }

    private func runOnTerminal() async throws {
        guard TerminalPrompt.isPossible else {
            throw CaptureError(
                .usage,
                "there is no terminal to ask on; run the agent in the foreground of one, or with --desktop"
            )
        }
        let daemon = try await bus.connect()
        let prompt = TerminalPrompt()
        let shown = pictures.pictures
        var agent: PromptAgent? = try await PromptAgent.register(
            on: daemon,
            isPossible: { TerminalPrompt.isPossible },
            describe: PersonalMetadata.describe,
            confirm: { await prompt.confirm($0) },
            pick: { prompt.choosing($0, from: $1, pictures: shown) },
            answer: { await prompt.ask($0) }
        )
        Output.note("asking for consent here; Ctrl-C ends this")
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
            if let end {
                // Its questions are withdrawn, and the terminal is as it was.
                agent = nil
                await prompt.settle()
                throw end
            }
            break
        }
        try await agent?.unregister()
        await prompt.settle()
    }
}
