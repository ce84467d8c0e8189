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

    @Option(help: .audioFormat, completion: .audioFormats)
    var audioFormat: String?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("wav or raw (the microphone's own samples).", valueName: "format"),
        completion: .list(OutputDescription.formats(of: .samples))
    )
    var format = "wav"

    @Option(name: .shortAndLong, parsing: .unconditional, help: .duration, transform: NumberOptions.seconds)
    var duration: Double?

    func run() async throws {
        try NumberOptions.check(duration: duration)
        let input = try InputOptions.microphone(microphone, audioFormat)
        let output = try SampleStreamOutput(file: try .standardOutput(), format: format, duration: duration)
        try await SessionRun.stream(input, into: output, on: try await bus.connect())
    }
}
