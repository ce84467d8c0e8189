import ArgumentParser
import CaptureKit
import Synchronization

struct PreviewCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "preview",
        abstract: "Show what a camera sees, in a window or on the terminal.",
        discussion: """
            A window needs GTK 4 (Debian: libgtk-4-1). Escape or Q closes it; on the terminal, Q or Ctrl-C ends the preview. \
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

    @OptionGroup var chosen: CameraOptions

    @Option(
        name: .customLong("in"),
        help: ArgumentHelp("window, terminal, or auto: a window if there is a display.", valueName: "place")
    )
    var place: Place = .auto

    @Option(
        help: ArgumentHelp(
            "Show it on the terminal, by kitty's protocol, sixel or blocks; auto asks the terminal.",
            valueName: "way"
        )
    )
    var pictures: TerminalScreen.Choice = .auto

    @Option(name: .shortAndLong, parsing: .unconditional, help: .duration, transform: NumberOptions.seconds)
    var duration: Double?

    @Flag(help: "Leave the window open after an error, which it shows.")
    var stay = false

    func run() async throws {
        try NumberOptions.check(duration: duration)
        let input = try chosen.input()
        // Held while the terminal's settings are changed, too.
        let wasInterrupted = Atomic(false)
        let isStaying = Atomic(false)
        let (closings, closed) = AsyncStream<Void>.makeStream()
        let (endings, end) = AsyncStream<Void>.makeStream()
        let interrupts = Interrupts {
            wasInterrupted.store(true, ordering: .relaxed)
            if isStaying.load(ordering: .relaxed) { closed.yield() }
        }
        defer { withExtendedLifetime(interrupts) {} }
        // A format that cannot be shown ends the output alone, so the session is told to end.
        let place = try await shown(failed: { end.yield() }) {
            closed.yield()
            end.yield()
        }
        let ending = Task { for await _ in endings { return } }
        do {
            if wasInterrupted.load(ordering: .relaxed) {
                throw CaptureError(.dismissed, "interrupted before anything was captured")
            }
            try await show(input, in: place, until: ending) { end.yield() }
        } catch {
            if stay, case .window(let window) = place {
                isStaying.store(true, ordering: .relaxed)
                window.tell((error as? CaptureError)?.message ?? "\(error)")
                for await _ in closings { break }
            }
            await place.close()
            throw error
        }
        await place.close()
    }

    /// Runs the session to its end.
    private func show(
        _ input: CaptureDeviceInput,
        in place: Shown,
        until ending: Task<Void, Never>,
        _ end: @escaping @Sendable () -> Void
    ) async throws {
        let daemon = try await bus.connect()
        let session = try await CaptureSession(on: daemon)
        try await session.addInput(input)
        try await session.addOutput(place.output)
        let events = try await session.events()
        let running = Task { [duration] in
            for await case .changed(let status) in events where status.state == .running {
                place.expectFrame()
                guard let duration else { return }
                try? await Task.sleep(for: .seconds(duration))
                return end()
            }
        }
        defer { running.cancel() }
        let run = SessionRun(session: session, output: place.output.name, closing: ending)
        let outcome = try await InlineAgent.during(daemon) { () async throws(CaptureError) in try await run.toTheEnd() }
        if let error = outcome.error { throw error }
        // A session that was told to end before it was read is no failure.
        if let error = place.output.failure, error.code != .wrongState { throw error }
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

        func expectFrame() {
            if case .window(let window) = self { window.expectFrame() }
        }

        func close() async {
            switch self {
            case .window(let window): await window.close()
            case .terminal(let screen): screen.close()
            }
        }
    }

    /// Where the picture is shown: a window if there can be one, otherwise the terminal.
    private func shown(
        failed: @escaping @Sendable () -> Void,
        closed: @escaping @Sendable () -> Void
    ) async throws(CaptureError) -> Shown {
        let hasDisplay = ["WAYLAND_DISPLAY", "DISPLAY"].contains { Environment.value($0)?.isEmpty == false }
        var reason = "there is no display"
        if place == .window || (place == .auto && pictures == .auto && hasDisplay) {
            do throws(CaptureError) {
                return .window(try await PreviewWindow.open(title: title, failed: { _ in failed() }, closed: closed))
            } catch {
                if place == .window { throw error }
                reason = error.message
            }
        }
        if let screen = TerminalScreen(pictures, closed: closed) { return .terminal(screen) }
        let why = "standard output is no terminal that can show pictures"
        throw CaptureError(.inputOutput, place == .terminal ? why : "\(why), and no window can be shown: \(reason)")
    }

    private var title: String { "\(chosen.camera ?? "Camera") – preview" }
}
