import ArgumentParser
import CaptureKit

struct AuthResetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset",
        abstract: "Forget answers, so that the next start asks again.",
        discussion: """
            To forget a no takes your password. Another user's answers take root, and so does a no to a service or a user of \
            a program's own; a yes to these is forgotten by who sits at the machine, too.
            """
    )

    @OptionGroup var bus: BusOptions

    @Option(parsing: .unconditional, help: ArgumentHelp("Whose answers. (default: your own)", valueName: "name"))
    var user: String?

    @Flag(help: "Forget the answers for every program.")
    var all = false

    @Argument(help: ArgumentHelp("The program's id, as 'auth list' prints it.", valueName: "program"))
    var program: String?

    @Argument(help: ArgumentHelp("This service alone; library for both of its levels.", valueName: "service"))
    var service: AuthSetCommand.Subject?

    func validate() throws {
        if all == (program != nil) { throw ValidationError("give either a program or --all") }
    }

    func run() async throws {
        try UserName.check(user)
        if let program { try ProgramName.check(program) }
        let count = try await bus.withdraw { daemon throws(CaptureError) in
            let panel = AuthorizationPanel(on: daemon)
            if service == .library { return try await panel.resetLibrary(program: program, user: user ?? "") }
            return try await panel.reset(
                program: program,
                service: service.flatMap { AuthorizationService(rawValue: $0.rawValue) },
                user: user ?? ""
            )
        } overSocket: { socket throws(CaptureError) in
            try await socket.reset(program: program ?? "", service: service?.rawValue ?? "", user: user ?? "")
        }
        Output.note("\(Quantities.count(count, "answer")) forgotten")
    }
}
