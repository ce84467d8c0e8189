import ArgumentParser
import CaptureKit

struct AuthResetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset",
        abstract: "Forget answers, so that the next start asks again.",
        discussion: """
            Forgetting a no takes your password. Only root can forget another user's answers, or a no to a service or \
            to a program with a user of its own. The person at the machine can forget a yes to these.
            """
    )

    @OptionGroup var bus: BusOptions

    @Option(
        name: .shortAndLong,
        parsing: .unconditional,
        help: ArgumentHelp("Whose answers to forget. (default: your own; for root everybody's)", valueName: "name")
    )
    var user: String?

    @Flag(help: "Forget the answers for every program.")
    var all = false

    @Argument(help: .program, completion: .programs, transform: ProgramName.whole)
    var program: String?

    @Argument(help: ArgumentHelp("Only this service; library means both of its levels.", valueName: "service"))
    var service: AuthSetCommand.Subject?

    func validate() throws {
        if all == (program != nil) { throw ValidationError("give either a program or --all") }
    }

    func run() async throws {
        try UserName.check(user)
        if let program { try ProgramName.check(program) }
        let count = try await bus.withdraw { daemon throws(CaptureError) in
            let panel = AuthorizationPanel(on: daemon)
            let what = program.map { ShellWord.quoted($0) } ?? "--all"
            let of = service.map { " \($0.rawValue)" } ?? ""
            let asRoot = "auth reset --user \(ShellWord.user(user)) \(what)\(of)"
            return try await PasswordAgent.during(asRoot: asRoot) { () async throws(CaptureError) in
                if service == .library { return try await panel.resetLibrary(program: program, user: user ?? "") }
                return try await panel.reset(
                    program: program,
                    service: service.flatMap { AuthorizationService(rawValue: $0.rawValue) },
                    user: user ?? ""
                )
            }
        } overSocket: { socket throws(CaptureError) in
            try await socket.reset(program: program ?? "", service: service?.rawValue ?? "", user: user ?? "")
        }
        Output.note("\(Quantities.count(count, "answer")) forgotten")
    }
}
