import ArgumentParser
import CaptureKit

struct AdjustCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "adjust",
        abstract: "Make the sound of a recording louder, or less loud, while it runs.",
        discussion: """
            The gain changes over 5 ms, so that it does not click. Sound that becomes louder than full scale is cut. \
            Without an output, the command affects every movie and sound of the session.
            """
    )

    @OptionGroup var bus: BusOptions

    @Argument(help: .session, completion: .sessions())
    var id: UInt32

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The gain, -60 to 40 decibels; 0 for the sound as it comes.", valueName: "dB")
    )
    var gain: Double

    @Argument(help: ArgumentHelp("The movie or sound, as 'status' names it.", valueName: "output"))
    var output: String?

    func run() async throws {
        try SoundOptions.check(gain: gain, "--gain")
        let daemon = try await bus.connect()
        let session = try await CaptureSession.session(id, on: daemon)
        let description = try await daemon.sessions().first { $0.id == id }?.description
        let microphone = description?.inputs.first { $0.mediaType == .audio }?.name ?? "microphone"
        var outputs = [output].compactMap(\.self)
        if outputs.isEmpty {
            let fed = description?.connections.filter { $0.input == microphone }.map(\.output) ?? []
            outputs = (description?.outputs ?? [])
                .filter { fed.contains($0.name) && ($0.kind == .movie || $0.kind == .sound) }.map(\.name)
            if outputs.isEmpty {
                throw CaptureError(.invalidArgument, "session \(id) has no movie and no sound with a microphone")
            }
        }
        for output in outputs {
            try await session.connection(from: microphone, to: output).setGain(gain)
            Output.note("session \(id): the gain of \(Printable.text(output)) is \(Quantities.gain(gain))")
        }
    }
}
