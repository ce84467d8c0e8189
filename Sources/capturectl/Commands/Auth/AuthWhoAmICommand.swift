import ArgumentParser
import CaptureKit

struct AuthWhoAmICommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "whoami",
        abstract: "Show how the daemon sees a command run from here."
    )

    @OptionGroup var bus: BusOptions

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let identity = try await AuthorizationPanel(on: try await bus.connect()).whoAmI()
        if json { return Output.print(AuthPresentation.json(identity)) }
        Output.print(AuthPresentation.text(identity))
    }
}
