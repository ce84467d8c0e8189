import ArgumentParser
import CaptureKit

struct CutCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cut",
        abstract: "Have a movie in segments go on in its next file.",
        discussion: """
            The movie was begun with 'capturectl record --segment'. No picture is missing at the cut, and none is in \
            both files.
            """
    )

    @OptionGroup var bus: BusOptions

    @Argument(help: .session, completion: .sessions())
    var id: UInt32

    @Option(help: "The output, as 'status' names it, instead of all that have segments.")
    var output: String?

    func run() async throws {
        let daemon = try await bus.connect()
        let session = try await CaptureSession.session(id, on: daemon)
        let what = "movie in segments; give --segment to record"
        for output in try await session.outputs(output, of: what, on: daemon, where: { $0.segments != nil }) {
            try await session.cut(output)
            Output.note("session \(id): \(Printable.text(output)) goes on in its next file")
        }
    }
}
