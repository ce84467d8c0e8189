import ArgumentParser
import CaptureKit

struct StartCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "start",
        abstract: "Start a recording that goes on by itself, and print its number.",
        discussion: """
            It ends with 'capturectl stop', after --duration, or when its device goes away. The number is printed when \
            it runs, after a yes if one was missing; until then there is no file. From then on the file stays, an \
            empty one too if the recording fails before its first byte: 'capturectl status' tells. With --to-library there \
            is no file: what may not be saved in the end is kept, for 'capturectl library kept'.
            """
    )

    @OptionGroup var bus: BusOptions
    @OptionGroup var recording: RecordingOptions

    @Flag(help: "Print the number as JSON.")
    var json = false

    func run() async throws {
        let plan = try recording.plan()
        let file = try await plan.open(overwrite: recording.overwrite)
        let daemon = try await bus.connect()
        let session = try await CaptureSession(on: daemon, isAttached: false)
        for input in plan.inputs { try await session.addInput(input) }
        let output = try plan.output(file)
        try await session.addOutput(output)
        let run = SessionRun(session: session, output: output.name, file: file)
        try await InlineAgent.during(daemon) { () async throws(CaptureError) in try await run.untilRunning() }
        let id = await session.id ?? 0
        if json { Output.print(["session": JSON(id), "file": JSON(plan.place.path)]) } else { Output.print("\(id)") }
    }
}
