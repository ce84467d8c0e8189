import ArgumentParser
import CaptureKit

struct AuthSetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Store an answer for a program, as if it had been asked.",
        discussion: """
            A no takes effect at once, in running sessions too. Another user's answers take root. What policy restricts \
            cannot be set.
            """
    )

    /// What can be stored.
    enum Answer: String, ExpressibleByArgument, CaseIterable {
        case authorized
        case denied
    }

    @OptionGroup var bus: BusOptions

    @Option(parsing: .unconditional, help: ArgumentHelp("Whose answer it is. (default: your own)", valueName: "name"))
    var user: String?

    @Argument(help: ArgumentHelp("The program's id, as in unit:camera.service.", valueName: "program"))
    var program: String

    @Argument(help: ArgumentHelp("camera, microphone, library-add or library-read-write.", valueName: "service"))
    var service: AuthorizationService

    @Argument(help: ArgumentHelp("authorized or denied.", valueName: "answer"))
    var answer: Answer

    func run() async throws {
        try UserName.check(user)
        try ProgramName.check(program)
        let panel = AuthorizationPanel(on: try await bus.connect())
        try await panel.set(program, service, isAllowed: answer == .authorized, user: user ?? "")
    }
}
