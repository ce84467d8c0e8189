import ArgumentParser
import CaptureKit

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show how the daemon is and what is in use, or how one session does.",
        discussion: """
            A use of a camera or microphone is listed from before its first sample, and for some seconds after its end \
            (LingerSec= in captured.conf), so that a very short one is seen, too.
            """
    )

    @OptionGroup var bus: BusOptions

    @Argument(help: ArgumentHelp("A session's number; the daemon without it.", valueName: "id"))
    var id: UInt32?

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let daemon = try await bus.connect()
        let sessions = try await daemon.sessions()
        guard let id else {
            let health = try await daemon.health()
            let uses = try await daemon.uses()
            if json { return Output.print(HealthPresentation.json(health, sessions, uses)) }
            return Output.print(HealthPresentation.text(health, sessions, uses))
        }
        guard let summary = sessions.first(where: { $0.id == id }) else {
            throw CaptureError(.noSuchSession, "there is no session \(id)")
        }
        let statistics = try await CaptureSession.session(id, on: daemon).statistics()
        if json { return Output.print(SessionPresentation.json(summary, statistics)) }
        Output.print(SessionPresentation.text(summary, statistics))
    }
}
