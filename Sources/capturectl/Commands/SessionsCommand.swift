import ArgumentParser
import CaptureKit

struct SessionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sessions",
        abstract: "List running sessions; with --all, also recently ended ones."
    )

    @OptionGroup var bus: BusOptions

    @Flag(name: .shortAndLong, help: "Also list sessions that are over, after the others.")
    var all = false

    @OptionGroup var table: TableOptions

    func run() async throws {
        let found = try await bus.withdraw { daemon throws(CaptureError) in
            try await daemon.sessions()
        } overSocket: { socket throws(CaptureError) in
            let sessions = try await socket.sessions()
            Output.note("the bus does not answer; over the control socket, inputs and outputs are not listed")
            return sessions
        }
        let sessions = SessionPresentation.ordered(found, all: all)
        let none = found.isEmpty ? "there is no session" : "no session is running; --all shows those that are over"
        table.show(sessions, SessionPresentation.table, { SessionPresentation.json($0) }, ifNone: none)
    }
}
