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
        if table.json { return Output.print(JSON.array(entries.map(AuthPresentation.json))) }
        if entries.isEmpty { return Output.note("no answer is stored") }
        Output.print(AuthPresentation.table(entries), isWide: table.wide)
    }
}
