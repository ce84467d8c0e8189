import ArgumentParser
import CaptureKit

struct FramesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "frames",
        abstract: "Write a camera's frames to a pipe.",
        discussion: "'capturectl frames | ffplay -' shows the camera."
    )

    @OptionGroup var bus: BusOptions

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The camera, as 'devices' lists it.", valueName: "id"),
        completion: .cameras()
    )
    var camera: String?

    @Option(name: .shortAndLong, help: ArgumentHelp("The approximate size and rate, as in 720p.", valueName: "preset"))
    var preset: Preset?

    @Option(
        help: ArgumentHelp("The camera's exact format, as in YUYV:1280x720@30.", valueName: "format"),
        completion: .videoFormats
    )
    var videoFormat: String?

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
        let input = try InputOptions.camera(camera, preset, videoFormat)
        let output = try FrameStreamOutput(file: try .standardOutput(), format: format, count: count)
        try await SessionRun.stream(input, into: output, on: try await bus.connect())
    }
}
