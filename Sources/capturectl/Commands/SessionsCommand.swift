import ArgumentParser
import CaptureKit

struct SessionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sessions",
        abstract: "List the sessions, those that are over lately included."
    )

    @OptionGroup var bus: BusOptions

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let sessions = try await bus.withdraw { daemon throws(CaptureError) in
            try await daemon.sessions()
        } overSocket: { socket throws(CaptureError) in
            try await socket.sessions()
        }
        if json { return Output.print(JSON.array(sessions.map { SessionPresentation.json($0) })) }
        if sessions.isEmpty { return Output.note("there is no session") }
        Output.print(SessionPresentation.table(sessions))
    }
}
