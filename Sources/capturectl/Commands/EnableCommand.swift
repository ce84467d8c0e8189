import ArgumentParser
import CaptureKit

struct DisableCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable",
        abstract: "Record or show silence, or no new picture, until 'enable'.",
        discussion: """
            A disabled microphone records silence. A disabled camera adds no picture, so the last one stays. Files and \
            streams go on, the devices stay in use, and are shown so. Without an output, the \
            command affects every movie, sound, stream and preview that the input feeds. 'capturectl status' shows what is disabled.
            """
    )

    @OptionGroup var bus: BusOptions
    @OptionGroup var part: ConnectedInput

    func run() async throws { try await part.setEnabled(false, on: try await bus.connect(), "disabled") }
}

struct EnableCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable",
        abstract: "Record a disabled camera or microphone again."
    )

    @OptionGroup var bus: BusOptions
    @OptionGroup var part: ConnectedInput

    func run() async throws { try await part.setEnabled(true, on: try await bus.connect(), "enabled") }
}

/// An input of a session, and which of the outputs that it feeds.
struct ConnectedInput: ParsableArguments {
    @Argument(help: .session, completion: .sessions())
    var id: UInt32

    @Argument(
        help: ArgumentHelp("The input, as 'status' names it: camera or microphone.", valueName: "input"),
        completion: .list(["camera", "microphone"])
    )
    var input: String

    @Argument(help: ArgumentHelp("The output, as 'status' names it.", valueName: "output"))
    var output: String?

    func setEnabled(_ isEnabled: Bool, on daemon: CaptureDaemon, _ word: String) async throws(CaptureError) {
        let session = try await CaptureSession.session(id, on: daemon)
        var outputs = [output].compactMap(\.self)
        if outputs.isEmpty {
            let description = try await daemon.sessions().first { $0.id == id }?.description
            let fed = description?.connections.filter { $0.input == input }.map(\.output) ?? []
            outputs = (description?.outputs ?? [])
                .filter { fed.contains($0.name) && $0.kind != .photo && $0.kind != .photos }.map(\.name)
            if outputs.isEmpty {
                let known = description?.inputs.map { Printable.text($0.name) }.joined(separator: ", ") ?? ""
                throw CaptureError(
                    .invalidArgument,
                    "session \(id) has no movie, sound, stream or preview that '\(input)' feeds; its inputs: \(known)"
                )
            }
        }
        for output in outputs {
            try await session.connection(from: input, to: output).setEnabled(isEnabled)
            Output.note("session \(id): \(Printable.text(input)) is \(word) for \(Printable.text(output))")
        }
    }
}
