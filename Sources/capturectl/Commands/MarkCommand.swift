import ArgumentParser
import CaptureKit

struct MarkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mark",
        abstract: "Mark this moment in a recording: a chapter begins there.",
        discussion: """
            Players jump to it and show its title. Movies have chapters, and sounds in m4a. A recording that breaks off, for \
            example at a power cut, has none.
            """
    )

    @OptionGroup var bus: BusOptions

    @Argument(help: .session, completion: .sessions())
    var id: UInt32

    @Argument(help: ArgumentHelp("The title, at most 255 bytes.", valueName: "title"))
    var title = ""

    @Option(help: "The output, as 'status' names it, instead of all that can have markers.")
    var output: String?

    func run() async throws {
        let daemon = try await bus.connect()
        let session = try await CaptureSession.session(id, on: daemon)
        let what = "movie and no sound in m4a that could be marked"
        for output in try await session.outputs(output, of: what, on: daemon, where: \.takesMarkers) {
            try await session.mark(title, in: output)
            Output.note("session \(id): \(Printable.text(output)) is marked")
        }
    }
}
