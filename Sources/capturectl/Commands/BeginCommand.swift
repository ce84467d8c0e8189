import ArgumentParser
import CaptureKit

struct BeginCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "begin",
        abstract: "Have a movie with a pre-roll begin, with what it kept until now.",
        discussion: """
            The movie waits since 'capturectl record --pre-roll' or 'capturectl start --pre-roll'. Pressing Enter in the \
            terminal of 'record' does the same.
            """
    )

    @OptionGroup var bus: BusOptions

    @Argument(
        help: ArgumentHelp("The session's number, as 'start' and 'sessions' print it.", valueName: "id"),
        completion: .sessions()
    )
    var id: UInt32

    @Option(help: "The output, as 'status' names it, instead of all that have a pre-roll.")
    var output: String?

    func run() async throws {
        let daemon = try await bus.connect()
        let session = try await CaptureSession.session(id, on: daemon)
        let what = "movie with a pre-roll; give --pre-roll to record"
        for output in try await session.outputs(output, of: what, on: daemon, where: { $0.preRoll > 0 }) {
            try await session.beginRecording(output)
            Output.note("session \(id): \(Printable.text(output)) has begun")
        }
    }
}
