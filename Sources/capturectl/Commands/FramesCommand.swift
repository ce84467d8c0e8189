import ArgumentParser
import CaptureKit

struct FramesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "frames",
        abstract: "Write a camera's frames to a pipe.",
        discussion: "'capturectl frames | ffplay -' shows the camera."
    )

    @OptionGroup var bus: BusOptions

    @OptionGroup var chosen: CameraOptions

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("y4m, raw (the camera's own bytes) or mjpeg.", valueName: "format"),
        completion: .list(OutputDescription.formats(of: .frames))
    )
    var format = "y4m"

    @Option(
        name: [.customShort("n"), .long],
        parsing: .unconditional,
        help: ArgumentHelp("End after this many frames.", valueName: "frames")
    )
    var count: Int?

    func run() async throws {
        try NumberOptions.check(count, "--count", 1...Int.max)
        let input = try chosen.input()
        let output = try FrameStreamOutput(file: try .standardOutput(), format: format, count: count)
        try await SessionRun.stream(input, into: output, on: try await bus.connect())
    }
}
