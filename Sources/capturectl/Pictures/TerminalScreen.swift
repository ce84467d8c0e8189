import ArgumentParser
import CaptureAgent
import CaptureKit
import CaptureSystem
import Dispatch
import FoundationEssentials
import Glibc
import Synchronization

/// A terminal that shows a camera, on the screen that full-screen programs have: what stood on it before is there again at
/// the end. Thread-safe.
final class TerminalScreen: Sendable {
    /// What can be chosen.
    enum Choice: String, ExpressibleByArgument, CaseIterable {
        case auto
        case kitty
        case sixel
        case blocks
    }

    /// The output that feeds it. Add it to a session.
    let output: VideoDataOutput
    private let painter: Painter

    /// The terminal on standard output.
    ///
    /// - Parameters:
    ///   - choice: How pictures are shown. `auto` asks the terminal, and waits a moment for its answer.
    ///   - takesKeys: Whether it reads keys; otherwise somebody else does.
    ///   - closed: Called when the person presses Q, and when no more comes.
    /// - Returns: `nil` if standard output is no terminal that can show pictures.
    init?(_ choice: Choice, takesKeys: Bool = true, closed: @escaping @Sendable () -> Void) {
        guard let size = TerminalSize(of: STDOUT_FILENO), let name = Environment.value("TERM"), name != "dumb",
            !name.isEmpty, let terminal = TerminalWriter()
        else { return nil }
        let isRich = ["truecolor", "24bit"].contains(Environment.value("COLORTERM") ?? "")
        let way: TerminalPicture =
            switch choice {
            case .kitty: .kitty
            case .sixel: .sixel
            case .blocks: .blocks(isRich: isRich)
            case .auto:
                TerminalPicture(TerminalAnswers.graphics(ProcessInfo.processInfo.environment), isRich: isRich)
            }
        painter = Painter(way, terminal, takesKeys: takesKeys, closed)
        let settings = Painter.settings(width: way.room(in: size).width)
        output = VideoDataOutput(name: "preview", settings: settings) { [painter] in painter.take($0) }
        painter.isFed(by: output)
    }

    /// Shows a line below the picture, which stands still or goes on.
    func tell(_ line: String, standsStill: Bool) { painter.tell(line, standsStill) }

    /// Leaves the terminal as it was. Idempotent.
    func close() { painter.close() }
}

/// Draws each frame in the place of the one before.
private final class Painter: Sendable {
    /// Nanoseconds without a new frame after which the picture is removed: a session that was suspended shows nothing.
    private static let patience: Int64 = 2_000_000_000

    private enum State {
        /// Nothing has come.
        case waiting
        case showing(Screen)
        case closed
    }

    /// The terminal since the first frame.
    private struct Screen {
        let keys: KeyReader?
        let watch: Ticker
        /// When the picture that stands there came; `nil` when none does.
        var since: Timestamp?
        var drawn: Drawn?
    }

    /// How large a picture is on which screen.
    private struct Drawn: Equatable {
        var screen: TerminalSize
        var width: Int
        var height: Int
        var line: String?
    }

    private let way: TerminalPicture
    private let terminal: TerminalWriter
    private let takesKeys: Bool
    private let closed: @Sendable () -> Void
    /// The line below the picture, if it was told one; and whether the picture stands still.
    private let told = Mutex<(line: String?, standsStill: Bool)>((nil, false))
    /// Held while something is written, so that nothing is drawn after the end.
    private let state = Mutex(State.waiting)
    private let output = Mutex(Weak())

    private struct Weak {
        weak var output: VideoDataOutput?
    }

    init(
        _ way: TerminalPicture,
        _ terminal: TerminalWriter,
        takesKeys: Bool,
        _ closed: @escaping @Sendable () -> Void
    ) {
        (self.way, self.terminal, self.takesKeys, self.closed) = (way, terminal, takesKeys, closed)
    }

    func tell(_ line: String, _ standsStill: Bool) {
        told.withLock { $0 = (line, standsStill) }
        // Otherwise the next picture brings it.
        guard standsStill else { return }
        state.withLock { state in
            guard case .showing = state, let size = TerminalSize(of: STDOUT_FILENO) else { return }
            terminal.write(Painter.line(line, size))
        }
    }

    /// A line in the last row.
    private static func line(_ text: String, _ size: TerminalSize) -> String {
        "\u{1B}[\(size.rows);1H\u{1B}[2K\u{1B}[2m\(text.prefix(max(1, size.columns - 1)))\u{1B}[0m"
    }

    func isFed(by output: VideoDataOutput) {
        self.output.withLock { $0.output = output }
    }

    /// Red, green and blue. More frames a second than a terminal takes would only come late.
    static func settings(width: Int) -> VideoSettings {
        (try? VideoSettings(pixelFormat: .rgb24, width: width, framesPerSecond: 15)) ?? .camera
    }

    func take(_ event: DataOutputEvent<VideoFrame>) {
        switch event {
        case .data(let frame): show(frame)
        case .dropped: return
        case .ended:
            close()
            // A format that cannot be shown ends the output alone.
            closed()
        }
    }

    /// Draws a frame if it fits, and asks for the next ones in the size that fits best.
    private func show(_ frame: VideoFrame) {
        let (width, height) = (frame.format.width, frame.format.height)
        guard let size = TerminalSize(of: STDOUT_FILENO), width > 0, height > 0 else { return }
        let fitted = way.fitted(width: width, height: height, in: size)
        let room = way.room(in: size)
        let told = told.withLock { $0 }
        if told.standsStill { return }
        let fits = width <= room.width && height <= room.height
        // A pixel more or less is that of rounding.
        if !fits || fitted.width - width > max(1, width / 16), let output = output.withLock({ $0.output }) {
            output.videoSettings = Painter.settings(width: fitted.width)
        }
        guard fits, let picture = RGBPicture(frame) else { return }
        let shown = way.sequence(picture, in: size)
        let drawn = Drawn(screen: size, width: width, height: height, line: told.line)
        state.withLock { state in
            var text = ""
            var screen: Screen
            switch state {
            case .closed: return
            case .showing(let now): screen = now
            case .waiting:
                text = "\u{1B}[?1049h\u{1B}[?25l"
                let watch = Ticker(milliseconds: 500) { [weak self] in self?.look() }
                screen = Screen(keys: takesKeys ? KeyReader(closed) : nil, watch: watch)
            }
            // The terminal shows what stands between these at once.
            text += "\u{1B}[?2026h"
            if drawn != screen.drawn {
                let hint = told.line ?? (screen.keys == nil ? "Ctrl-C ends" : "Q or Ctrl-C ends")
                text += "\u{1B}[2J" + Painter.line(hint, size)
            }
            text += "\u{1B}[H\(shown)\u{1B}[?2026l"
            terminal.write(text)
            (screen.since, screen.drawn) = (.now, drawn)
            state = .showing(screen)
        }
    }

    /// Removes a picture that no other follows.
    private func look() {
        _ = state.withLockIfAvailable { state in
            guard case .showing(var screen) = state, let since = screen.since, Timestamp.now - since > Painter.patience,
                !told.withLock({ $0.standsStill })
            else { return }
            terminal.write("\(way.ending)\u{1B}[2J\u{1B}[Hno picture comes from the camera")
            (screen.since, screen.drawn) = (nil, nil)
            state = .showing(screen)
        }
    }

    func close() {
        terminal.giveUp()
        let screen = state.withLock { state -> Screen? in
            defer { state = .closed }
            guard case .showing(let screen) = state else { return nil }
            // A picture may be broken off.
            terminal.writeLast("\u{1B}\\\(way.ending)\u{1B}[0m\u{1B}[?2026l\u{1B}[?25h\u{1B}[?1049l")
            return screen
        }
        screen?.watch.stop()
        screen?.keys?.stop()
    }
}

/// Writes to a terminal that somebody may have stopped, without waiting for it for long. Thread-safe, but for texts that
/// mix.
private final class TerminalWriter: Sendable {
    /// Opened anew, so that what is set for it is not set for the shell.
    private let file: Descriptor
    private let hasGivenUp = Atomic(false)

    /// - Returns: `nil` if standard output is no terminal.
    init?() {
        guard let name = unsafe ttyname(STDOUT_FILENO).map({ unsafe String(cString: $0) }),
            let file = try? Descriptor.open(name, O_WRONLY | O_NONBLOCK | O_NOCTTY)
        else { return nil }
        self.file = file
    }

    /// Ends a `write` that waits, and those that come.
    func giveUp() { hasGivenUp.store(true, ordering: .releasing) }

    /// Writes, and waits for a terminal that takes nothing.
    func write(_ text: String) {
        write(text) { !self.hasGivenUp.load(ordering: .acquiring) }
    }

    /// Writes, and waits half a second at most.
    func writeLast(_ text: String) {
        let end = Timestamp.now.advanced(by: 500_000_000)
        write(text) { Timestamp.now < end }
    }

    private func write(_ text: String, while goesOn: () -> Bool) {
        var text = text
        text.withUTF8 { bytes in
            var done = 0
            while done < bytes.count {
                let count = unsafe Glibc.write(
                    file.descriptor,
                    bytes.baseAddress?.advanced(by: done),
                    bytes.count - done
                )
                if count > 0 {
                    done += count
                } else if count < 0, errno == EINTR {
                    continue
                } else if count < 0, errno == EAGAIN, goesOn() {
                    _ = try? Poll.wait(file.descriptor, for: .writable, timeout: 100)
                } else {
                    return
                }
            }
        }
    }
}

extension RGBPicture {
    /// A copy of a frame of red, green and blue; `nil` for one of another format, or that was overwritten meanwhile.
    init?(_ frame: VideoFrame) {
        guard frame.format.pixelFormat == .rgb24, let plane = frame.planes.first,
            unsafe plane.bytes.count >= (plane.height - 1) * plane.stride + plane.width * 3
        else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(plane.width * plane.height * 3)
        for row in 0..<plane.height {
            unsafe bytes += plane.bytes[row * plane.stride..<row * plane.stride + plane.width * 3]
        }
        self.init(width: plane.width, height: plane.height, bytes: bytes)
        guard frame.isIntact else { return nil }
    }
}

/// Reads the keys of the terminal that the program was started on, without showing them.
private final class KeyReader: Sendable {
    private let wake: EventSignal
    private let thread: WorkerThread

    /// - Parameter closed: Called on a thread of its own when the person presses Q.
    /// - Returns: `nil` if there is no such terminal.
    init?(_ closed: @escaping @Sendable () -> Void) {
        let ready = DispatchSemaphore(value: 0)
        do throws(SystemError) {
            let wake = try EventSignal()
            self.wake = wake
            thread = try WorkerThread(name: "keys") {
                let terminal = ControllingTerminal()
                let takesKeys = (try? terminal?.takeKeys()) != nil
                ready.signal()
                guard takesKeys, let terminal else { return }
                while let keys = try? terminal.read(until: wake), !keys.isEmpty {
                    if keys.contains(UInt8(ascii: "q")) || keys.contains(UInt8(ascii: "Q")) { closed() }
                }
                // Keys were meant for the preview, not for the shell.
                _ = try? terminal.forgetTyped()
                terminal.restore()
            }
        } catch {
            return nil
        }
        ready.wait()
    }

    /// Leaves the terminal as it was.
    func stop() {
        wake.raise()
        thread.join()
    }
}
