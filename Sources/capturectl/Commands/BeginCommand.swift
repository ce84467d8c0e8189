import ArgumentParser
import CaptureKit

struct BeginCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "begin",
        abstract: "Begin a movie that waits with a pre-roll. It starts with what was kept.",
        discussion: """
            The movie was started with 'capturectl record --pre-roll' or 'capturectl start --pre-roll', and has been \
            waiting since. Pressing Enter in the terminal of 'record' does the same.
            """
    )

    @OptionGroup var bus: BusOptions

    @Argument(help: .session, completion: .sessions())
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
