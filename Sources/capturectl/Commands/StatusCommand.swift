import ArgumentParser
import CaptureKit
import Glibc

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the daemon's state and what is in use, or one session.",
        discussion: """
            A use of a camera or microphone appears before its first sample. It stays listed for some seconds after its \
            end (LingerSec= in captured.conf), so that you also see very short uses.
            """
    )

    @OptionGroup var bus: BusOptions

    @Argument(
        help: ArgumentHelp("A session's number. (default: the daemon)", valueName: "id"),
        completion: .sessions(all: true)
    )
    var id: UInt32?

    @OptionGroup var table: TableOptions

    func run() async throws {
        let daemon = try await bus.connect()
        let sessions = try await daemon.sessions()
        guard let id else {
            let health = try await daemon.health()
            let uses = try await daemon.uses()
            if table.json { return Output.print(HealthPresentation.json(health, sessions, uses)) }
            Output.print(HealthPresentation.text(health, sessions))
            let width = table.wide ? nil : TerminalSize.width(of: STDOUT_FILENO)
            let shown = HealthPresentation.tables(sessions, uses).map { $0.fitted(to: width) }
            for table in shown { Output.print("\n" + table.text) }
            return Output.tellCut(shown)
        }
        guard let summary = sessions.first(where: { $0.id == id }) else {
            throw CaptureError(.noSuchSession, "there is no session \(id)")
        }
        let statistics = try await CaptureSession.session(id, on: daemon).statistics()
        if table.json { return Output.print(SessionPresentation.json(summary, statistics)) }
        Output.print(SessionPresentation.text(summary, statistics))
    }
}
