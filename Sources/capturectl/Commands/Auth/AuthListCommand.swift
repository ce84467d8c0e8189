import ArgumentParser
import CaptureKit

struct AuthListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the stored answers."
    )

    @OptionGroup var bus: BusOptions

    @OptionGroup var table: TableOptions

    func run() async throws {
        let entries = try await AuthorizationPanel(on: try await bus.connect()).entries()
        table.show(entries, AuthPresentation.table, AuthPresentation.json, ifNone: "no answer is stored")
    }
}
