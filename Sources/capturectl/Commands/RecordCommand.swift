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
    @OptionGroup var segments: SegmentOptions

    @Flag(help: "Print the summary as JSON on standard output.")
    var json = false

    func run() async throws {
        let plan = try recording.plan()
        if let rule = try segments.rule() { return try await record(plan, in: rule) }
        let file = try await plan.open()
        let daemon = try await bus.connect()
        let output = try plan.output(file)
        let session = try await plan.session(with: output, on: daemon)
        var run = SessionRun(session: session, output: output.name, file: file, display: ProgressDisplay())
        run.hasPreRoll = plan.preRoll != nil
        let outcome = try await InlineAgent.during(daemon) { () async throws(CaptureError) in try await run.toTheEnd() }
        let isThere = file.map { $0.isKept && !$0.isLost } ?? true
        let path = isThere ? file?.path ?? plan.place.path : nil
        let summary = RecordingSummary(file: path, format: plan.format.name, outcome: outcome)
        if json { Output.print(summary.json) } else if isThere { Output.note(summary.text) }
        if let error = outcome.error { throw error }
    }

    /// Records a movie in segments.
    private func record(_ plan: RecordingPlan, in rule: SegmentRule) async throws {
        let files = try plan.segmentFiles(segments)
        let output = try plan.output(to: files.first, segments: rule)
        let daemon = try await bus.connect()
        let session = try await plan.session(with: output, on: daemon)
        let display = ProgressDisplay()
        let isQuiet = json
        let supply = Task { () throws(CaptureError) in
            try await files.supply(
                session,
                to: output.name,
                { file in
                    display?.clear()
                    if !isQuiet { Output.note(SegmentPresentation.line(file)) }
                },
                troubled: { error in
                    display?.clear()
                    Output.message(error.message)
                }
            )
        }
        var run = SessionRun(session: session, output: output.name, display: display)
        run.hasPreRoll = plan.preRoll != nil
        let outcome = try await InlineAgent.during(daemon) { () async throws(CaptureError) in try await run.toTheEnd() }
        // Who does not wait for the end of the recording does not wait for its last file.
        if !outcome.isFinal { supply.cancel() }
        let made: Result<[SegmentFile], any Error> = await supply.result
        let (all, left) = (await files.made, await files.left)
        var summary = RecordingSummary(file: nil, format: plan.format.name, outcome: outcome)
        summary.segments = (all, left)
        if json { Output.print(summary.json) } else { Output.note(summary.text) }
        if let error = outcome.error { throw error }
        _ = try made.get()
    }
}
