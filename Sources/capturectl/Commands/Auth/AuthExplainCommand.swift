import ArgumentParser
import CaptureKit

struct AuthExplainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Show what decides about a program, and what a start would do now.",
        discussion: """
            Names the policy rule, by file and line, or the stored answer that counts, and whom a start would ask. \
            Asks nobody. Without a program, explains this command, run from here. Without a service, explains all. For \
            a unit, --user says which user it runs as, because rules may depend on that.
            """
    )

    @OptionGroup var bus: BusOptions

    @OptionGroup var subject: ProgramOptions

    @Argument(help: ArgumentHelp("Only this service; library means both of its levels.", valueName: "service"))
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
