import ArgumentParser
import CaptureKit

struct FramesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "frames",
        abstract: "Write a camera's frames to a pipe.",
        discussion: "'capturectl frames | ffplay -' shows the camera."
    )

    @OptionGroup var bus: BusOptions

    @Option(help: ArgumentHelp("The camera, as 'devices' lists it.", valueName: "id"))
    var camera: String?

    @Option(help: ArgumentHelp("The size and rate to come near to.", valueName: "preset"))
    var preset: Preset?

    @Option(help: ArgumentHelp("Exactly this from the camera, as in YUYV:1280x720@30.", valueName: "format"))
    var videoFormat: String?

    @Option(help: ArgumentHelp("y4m, raw (the camera's own bytes) or mjpeg.", valueName: "format"))
    var format = "y4m"

    @Option(parsing: .unconditional, help: ArgumentHelp("Frames after which to end.", valueName: "frames"))
    var count: Int?

    func run() async throws {
        try NumberOptions.check(count, "--count", 1...Int.max)
        let input = try InputOptions.camera(camera, preset, videoFormat)
        let output = try FrameStreamOutput(file: try .standardOutput(), format: format, count: count)
        try await SessionRun.stream(input, into: output, on: try await bus.connect())
    }
}
