import ArgumentParser
import CaptureKit

struct AuthSetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Store an answer for a program, as if it had been asked.",
        discussion: """
            A no takes effect at once, in running sessions too, and so does the end of a yes. Another user's answers take \
            root, and so does a yes to a service or a user of a program's own, which counts for everybody; a no to these is \
            free to who sits at the machine. A yes belongs to a file, which app: ids do not name: those programs are allowed \
            when they ask. What policy restricts cannot be set.
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

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("A yes ends then, as in 2026-03-01, '2026-03-01 12:30', 8h or 7d.", valueName: "time")
    )
    var until: String?

    @Argument(help: ArgumentHelp("The program's id, as in unit:camera.service.", valueName: "program"))
    var program: String

    @Argument(help: ArgumentHelp("camera, microphone, library-add or library-read-write.", valueName: "service"))
    var service: AuthorizationService

    @Argument(help: ArgumentHelp("authorized or denied.", valueName: "answer"))
    var answer: Answer

    func run() async throws {
        try UserName.check(user)
        try ProgramName.check(program)
        let end = try end()
        let panel = AuthorizationPanel(on: try await bus.connect())
        try await panel.set(program, service, isAllowed: answer == .authorized, until: end, user: user ?? "")
    }

    /// When the answer ends, in milliseconds since 1970.
    ///
    /// - Throws: `usage`.
    func end(now: Int64 = Clock.now().seconds) throws(CaptureError) -> Int64? {
        guard let until else { return nil }
        guard answer == .authorized else {
            throw CaptureError(.usage, "--until goes with authorized: a no holds until it is changed")
        }
        let end = try MomentArgument.milliseconds(until, "--until", .future, now: now)
        guard end > now * 1000 else {
            throw CaptureError(.usage, "--until: '\(Printable.text(until))' is over already; give a time to come")
        }
        return end
    }
}
