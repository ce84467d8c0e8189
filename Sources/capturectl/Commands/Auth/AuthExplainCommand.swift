import ArgumentParser
import CaptureKit

struct AuthExplainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Show what decides about a program, and what a start would do now.",
        discussion: """
            Names the rule of the policy, by file and line, or the stored answer that counts, and whom a start would ask. \
            Nobody is asked by it. Without a program: this command, as seen from here. Without a service: camera and \
            microphone. For a unit, --user tells whom it runs as, which rules may ask for.
            """
    )

    @OptionGroup var bus: BusOptions

    @Option(parsing: .unconditional, help: ArgumentHelp("Whom the program runs as. (default: you)", valueName: "name"))
    var user: String?

    @Argument(help: ArgumentHelp("A program's id, as 'auth list' prints it.", valueName: "program"))
    var program: String?

    @Argument(help: ArgumentHelp("This service alone.", valueName: "service"))
    var service: AuthorizationService?

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        if user != nil, program == nil { throw ValidationError("--user goes with a program") }
    }

    func run() async throws {
        try UserName.check(user)
        if let program { try ProgramName.check(program) }
        let panel = AuthorizationPanel(on: try await bus.connect())
        let services = service.map { [$0] } ?? [.camera, .microphone]
        let explanations = try await panel.explain(program ?? "", services, user: user ?? "")
        if json { return Output.print(JSON.array(explanations.map(AuthPresentation.json))) }
        Output.print(AuthPresentation.text(explanations))
    }
}
