import ArgumentParser
import CaptureKit

struct PauseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Leave out what is captured from now on, until 'resume'.",
        discussion: """
            The camera and the microphone stay in use, and are shown so. Without a name, all movies and sounds of the \
            session are paused. 'capturectl status' shows which are.
            """
    )

    @OptionGroup var bus: BusOptions
    @OptionGroup var recording: PausedRecording

    func run() async throws {
        try await recording.each(on: try await bus.connect()) { session, output throws(CaptureError) in
            try await session.pauseRecording(output)
            Output.note("session \(await session.id ?? 0): \(Printable.text(output)) is paused")
        }
    }
}

struct ResumeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Have a paused recording go on.",
        discussion: "The file closes up: nothing of the pause is in it."
    )

    @OptionGroup var bus: BusOptions
    @OptionGroup var recording: PausedRecording

    func run() async throws {
        try await recording.each(on: try await bus.connect()) { session, output throws(CaptureError) in
            try await session.resumeRecording(output)
            Output.note("session \(await session.id ?? 0): \(Printable.text(output)) goes on")
        }
    }
}

/// Which recordings of a session to pause or resume.
struct PausedRecording: ParsableArguments {
    @Argument(help: .session, completion: .sessions())
    var id: UInt32

    @Argument(help: ArgumentHelp("The movie or sound, as 'status' names it.", valueName: "output"))
    var output: String?

    /// Calls something for the output that was named, else for each that can be paused.
    func each(
        on daemon: CaptureDaemon,
        _ body: (CaptureSession, String) async throws(CaptureError) -> Void
    ) async throws(CaptureError) {
        let session = try await CaptureSession.session(id, on: daemon)
        let kinds: [OutputKind] = [.movie, .sound]
        let what = "movie and no sound that could be paused"
        for name in try await session.outputs(output, of: what, on: daemon, where: { kinds.contains($0.kind) }) {
            try await body(session, name)
        }
    }
}

extension CaptureSession {
    /// The output that was named, else the names of all that a command can be for.
    ///
    /// - Throws: `invalidArgument` if the session has no such output.
    func outputs(
        _ named: String?,
        of what: String,
        on daemon: CaptureDaemon,
        where isFit: (OutputDescription) -> Bool
    ) async throws(CaptureError) -> [String] {
        if let named { return [named] }
        let id = id ?? 0
        let names =
            try await daemon.sessions().first { $0.id == id }?.description?.outputs.filter(isFit).map(\.name) ?? []
        if names.isEmpty { throw CaptureError(.invalidArgument, "session \(id) has no \(what)") }
        return names
    }
}
