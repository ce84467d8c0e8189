import ArgumentParser
import CaptureKit

struct AuthAgentsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "agents",
        abstract: "List the agents, which ask people for consent.",
        discussion: """
            An agent asks about programs of its own user and login session. If several may be asked, the first in the \
            list is. Without any, a program without a terminal of its own is refused (75). Start one with \
            'capturectl agent'. Root sees everybody's agents.
            """
    )

    @OptionGroup var bus: BusOptions

    @OptionGroup var table: TableOptions

    func run() async throws {
        let agents = try await AuthorizationPanel(on: try await bus.connect()).agents()
        let none = "there is no agent; start one with 'capturectl agent'"
        table.show(agents, AgentPresentation.table, AgentPresentation.json, ifNone: none)
    }
}
