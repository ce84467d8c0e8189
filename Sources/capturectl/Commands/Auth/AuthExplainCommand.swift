import ArgumentParser
import CaptureKit

struct AuthExplainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Show what decides about a program, and what a start would do now.",
        discussion: """
            Names the rule of the policy, by file and line, or the stored answer that counts, and whom a start would ask. \
            Nobody is asked by it. Without a program: this command, as seen from here. Without a service: all. For a unit, --user tells whom it runs as, which rules may ask for.
            """
    )

    @OptionGroup var bus: BusOptions

    @OptionGroup var subject: ProgramOptions

    @Argument(help: ArgumentHelp("This service alone; library for both of its levels.", valueName: "service"))
    var service: AuthSetCommand.Subject?

    func run() async throws {
        try subject.check()
        let panel = AuthorizationPanel(on: try await bus.connect())
        let services = service?.services ?? AuthorizationService.allCases
        let explanations = try await panel.explain(subject.program ?? "", services, user: subject.user ?? "")
        if subject.json { return Output.print(JSON.array(explanations.map(AuthPresentation.json))) }
        Output.print(AuthPresentation.text(explanations))
    }
}
