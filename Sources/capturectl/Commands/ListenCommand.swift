import ArgumentParser
import CaptureKit

struct ListenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "listen",
        abstract: "Write a microphone's samples to a pipe.",
        discussion: "'capturectl listen | aplay' plays the microphone."
    )

    @OptionGroup var bus: BusOptions

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The microphone, as 'devices' lists it.", valueName: "id"),
        completion: .microphones()
    )
    var microphone: String?

    @Option(
        help: ArgumentHelp("The microphone's exact format, as in S16_LE:48000x2.", valueName: "format"),
        completion: .audioFormats
    )
    var audioFormat: String?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("wav or raw (the microphone's own samples).", valueName: "format"),
        completion: .list(OutputDescription.formats(of: .samples))
    )
    var format = "wav"

    @Option(
        name: .shortAndLong,
        parsing: .unconditional,
        help: ArgumentHelp("End after this time, as in 90, 10s or 1m30s.", valueName: "time"),
        transform: NumberOptions.seconds
    )
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
