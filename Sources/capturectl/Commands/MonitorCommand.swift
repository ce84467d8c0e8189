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
        let json = json
        try await Interrupts.cancelling { () async throws(CaptureError) in
            let events: AsyncStream<DaemonEvent>
            do throws(CaptureError) {
                events = try await daemon.events()
            } catch {
                if Task.isCancelled { return }
                throw error
            }
            for await event in events {
                let now = Clock.now()
                let line = json ? EventPresentation.json(event, at: now).line : EventPresentation.text(event, at: now)
                guard Output.print(line) else { return }
            }
            if !Task.isCancelled { throw CaptureError(.unreachable, "the connection to the bus is lost") }
        }
    }
}
