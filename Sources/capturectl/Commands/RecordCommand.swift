import ArgumentParser
import CaptureKit

struct RecordCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "Record camera and microphone into a file or the media library, until Ctrl-C.",
        discussion: """
            On a terminal, the first recording asks for consent right here. Ctrl-C finishes the file; a second Ctrl-C \
            does not wait for that. With --to-library the recording is saved into the media library, which needs its \
            own consent; if it cannot be saved, it is kept, for 'capturectl library kept'.
            """
    )

    @OptionGroup var bus: BusOptions
    @OptionGroup var recording: RecordingOptions

    @Flag(help: "Print the summary as JSON on standard output.")
    var json = false

    func run() async throws {
        let plan = try recording.plan()
        let file = try await plan.open(overwrite: recording.overwrite)
        let daemon = try await bus.connect()
        let session = try await CaptureSession(on: daemon)
        for input in plan.inputs { try await session.addInput(input) }
        let output = try plan.output(file)
        try await session.addOutput(output)
        try await session.apply(plan.settings, to: output.name)
        let run = SessionRun(session: session, output: output.name, file: file, display: ProgressDisplay())
        let outcome = try await InlineAgent.during(daemon) { () async throws(CaptureError) in try await run.toTheEnd() }
        let isThere = file.map { $0.isKept && !$0.isLost } ?? true
        let path = isThere ? plan.place.path : nil
        let summary = RecordingSummary(file: path, format: plan.format.name, outcome: outcome)
        if json { Output.print(summary.json) } else if isThere { Output.note(summary.text) }
        if let error = outcome.error { throw error }
    }
}
