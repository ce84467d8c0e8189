import ArgumentParser
import CaptureKit

struct StartCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "start",
        abstract: "Start a recording in the background, and print its number.",
        discussion: """
            It ends with 'capturectl stop', after --duration, or when its device goes away. The command asks for \
            consent if needed. It prints the number and creates the file when the recording runs. The file then stays, \
            even if the recording fails before its first byte; 'capturectl status' reports that. With --to-library \
            there is no file; a recording that cannot be saved is kept, for 'capturectl library kept'.
            """
    )

    @OptionGroup var bus: BusOptions
    @OptionGroup var recording: RecordingOptions

    @Flag(help: "Print the number as JSON.")
    var json = false

    func run() async throws {
        let plan = try recording.plan()
        let file = try await plan.open()
        let daemon = try await bus.connect()
        let output = try plan.output(file)
        let session = try await plan.session(with: output, on: daemon, isAttached: false)
        let run = SessionRun(session: session, output: output.name, file: file, naming: .whenRunning)
        try await InlineAgent.during(daemon) { () async throws(CaptureError) in try await run.untilRunning() }
        let id = await session.id ?? 0
        if json { Output.print(["session": .id(id), "file": JSON(plan.place.path)]) } else { Output.print("\(id)") }
    }
}
