import ArgumentParser
import CaptureKit

struct MonitorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "monitor",
        abstract: "Report devices, sessions, uses and decisions as they happen, until Ctrl-C."
    )

    @OptionGroup var bus: BusOptions

    @Flag(help: "Print a line of JSON for every event.")
    var json = false

    func run() async throws {
        let daemon = try await bus.connect()
        // Says at once when there is no daemon, instead of waiting in silence.
        _ = try await daemon.version()
        let (lines, feed) = AsyncStream<String?>.makeStream()
        let interrupts = Interrupts { feed.yield(nil) }
        let events = try await daemon.events()
        let json = json
        let watch = Task {
            for await event in events {
                let now = Clock.now()
                feed.yield(json ? EventPresentation.json(event, at: now).line : EventPresentation.text(event, at: now))
            }
            feed.finish()
        }
        defer {
            watch.cancel()
            withExtendedLifetime(interrupts) {}
        }
        for await line in lines {
            guard let line else { return }
            Output.print(line)
        }
        throw CaptureError(.unreachable, "the connection to the bus is lost")
    }
}
