import ArgumentParser
import CaptureKit

struct PreviewCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "preview",
        abstract: "Show what a camera sees, in a window or on the terminal.",
        discussion: """
            A window takes GTK 4 (Debian: libgtk-4-1). Close it with Escape or Q; on the terminal Ctrl-C ends the preview. \
            Other programs can use the camera at the same time.
            """
    )

    /// Where the picture is shown.
    enum Place: String, ExpressibleByArgument, CaseIterable {
        case auto
        case window
        case terminal
    }

    @OptionGroup var bus: BusOptions

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The camera, as 'devices' lists it.", valueName: "id"),
        completion: .cameras()
    )
    var camera: String?

    @Option(name: .shortAndLong, help: ArgumentHelp("The approximate size and rate, as in 720p.", valueName: "preset"))
    var preset: Preset?

    @Option(
        help: ArgumentHelp("The camera's exact format, as in YUYV:1280x720@30.", valueName: "format"),
        completion: .videoFormats
    )
    var videoFormat: String?

    @Option(
        name: .customLong("in"),
        help: ArgumentHelp("window, terminal, or auto: a window if there is a display.", valueName: "place")
    )
    var place: Place = .auto

    @Option(
        help: ArgumentHelp(
            "How to show it on a terminal: kitty, sixel, blocks, or auto to ask the terminal.",
            valueName: "way"
        )
    )
    var pictures: TerminalScreen.Choice = .auto

    @Option(
        name: .shortAndLong,
        parsing: .unconditional,
        help: ArgumentHelp("End after this time, as in 90, 10s or 1m30s.", valueName: "time"),
        transform: NumberOptions.seconds
    )
    var duration: Double?

    @Flag(help: "Leave the window open after an error, which it shows.")
    var stay = false

    func run() async throws {
        try NumberOptions.check(duration: duration)
        let input = try InputOptions.camera(camera, preset, videoFormat)
        let (closings, closed) = AsyncStream<Void>.makeStream()
        let place = try await shown { closed.yield() }
        let closing = Task { for await _ in closings { return } }
        do {
            try await show(input, in: place, until: closing)
        } catch {
            if stay, case .window(let window) = place {
                window.tell((error as? CaptureError)?.message ?? "\(error)")
                await closing.value
            }
            await place.close()
            throw error
        }
        await place.close()
    }

    /// Runs the session to its end.
    private func show(_ input: CaptureDeviceInput, in place: Shown, until closing: Task<Void, Never>) async throws {
        let daemon = try await bus.connect()
        let session = try await CaptureSession(on: daemon)
        Task {
            await closing.value
            try? await session.stop()
        }
        try await session.addInput(input)
        try await session.addOutput(place.output)
        let events = try await session.events()
        let limit = Task { [duration] in
            guard let duration else { return }
            for await case .changed(let status) in events where status.state == .running {
                try await Task.sleep(for: .seconds(duration))
                try await session.stop()
            }
        }
        defer { limit.cancel() }
        let run = SessionRun(session: session, output: place.output.name)
        let outcome = try await InlineAgent.during(daemon) { () async throws(CaptureError) in try await run.toTheEnd() }
        if let error = outcome.error { throw error }
        if let error = place.output.failure { throw error }
    }

    private enum Shown {
        case window(PreviewWindow)
        case terminal(TerminalScreen)

        var output: VideoDataOutput {
            switch self {
            case .window(let window): window.output
            case .terminal(let screen): screen.output
            }
        }

        func close() async {
            switch self {
            case .window(let window): await window.close()
            case .terminal(let screen): screen.close()
            }
        }
    }

    /// Where the picture is shown: a window where there can be one, else the terminal.
    private func shown(_ closed: @escaping @Sendable () -> Void) async throws(CaptureError) -> Shown {
        let hasDisplay = ["WAYLAND_DISPLAY", "DISPLAY"].contains { Environment.value($0)?.isEmpty == false }
        var reason = "there is no display"
        if place == .window || (place == .auto && hasDisplay) {
            do throws(CaptureError) {
                return .window(try await PreviewWindow.open(title: title, closed: closed))
            } catch {
                if place == .window { throw error }
                reason = error.message
            }
        }
        if let screen = TerminalScreen(pictures, closed: closed) { return .terminal(screen) }
        let why = "standard output is no terminal that can show pictures"
        throw CaptureError(.inputOutput, place == .terminal ? why : "\(why), and no window can be shown: \(reason)")
    }

    private var title: String { "\(camera ?? "Camera") – preview" }
}
