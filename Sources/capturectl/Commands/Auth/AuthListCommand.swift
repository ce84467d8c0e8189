import ArgumentParser
import CaptureKit

struct AuthListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the stored answers."
    )

    @OptionGroup var bus: BusOptions

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let entries = try await AuthorizationPanel(on: try await bus.connect()).entries()
        if json { return Output.print(JSON.array(entries.map(AuthPresentation.json))) }
        if entries.isEmpty { return Output.note("no answer is stored") }
        Output.print(AuthPresentation.table(entries))
    }
}
