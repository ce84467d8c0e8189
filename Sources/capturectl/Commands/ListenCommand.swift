import ArgumentParser
import CaptureKit

struct ListenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "listen",
        abstract: "Write a microphone's samples to a pipe.",
        discussion: "'capturectl listen | aplay' plays the microphone."
    )

    @OptionGroup var bus: BusOptions

    @Option(help: ArgumentHelp("The microphone, as 'devices' lists it.", valueName: "id"))
    var microphone: String?

    @Option(help: ArgumentHelp("Exactly this from the microphone, as in S16_LE:48000x2.", valueName: "format"))
    var audioFormat: String?

    @Option(help: ArgumentHelp("wav or raw (the microphone's own samples).", valueName: "format"))
    var format = "wav"

    @Option(parsing: .unconditional, help: ArgumentHelp("Seconds after which to end.", valueName: "seconds"))
    var duration: Double?

    func run() async throws {
        try NumberOptions.check(duration: duration)
        let request = try audioFormat.map { text throws(CaptureError) in try AudioFormatRequest(text: text) }
        try InputOptions.check(microphone, "--microphone")
        let input = CaptureDeviceInput.microphone(microphone, request: request ?? AudioFormatRequest())
        let output = try SampleStreamOutput(file: try .standardOutput(), format: format, duration: duration)
        try await SessionRun.stream(input, into: output, on: try await bus.connect())
    }
}
