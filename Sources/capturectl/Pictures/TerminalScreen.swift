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
    ///   - closed: Called when the person presses Q, and when no more comes.
    /// - Returns: `nil` if standard output is no terminal that can show pictures.
    init?(_ choice: Choice, closed: @escaping @Sendable () -> Void) {
        guard let size = TerminalSize(of: STDOUT_FILENO), let name = Environment.value("TERM"), name != "dumb",
            !name.isEmpty
        else {
            return nil
        }
        let isRich = ["truecolor", "24bit"].contains(Environment.value("COLORTERM") ?? "")
        let way: TerminalPicture =
            switch choice {
            case .kitty: .kitty
            case .sixel: .sixel
            case .blocks: .blocks(isRich: isRich)
            case .auto:
                TerminalPicture(TerminalAnswers.graphics(ProcessInfo.processInfo.environment), isRich: isRich)
            }
        painter = Painter(way, closed)
        let settings = Painter.settings(width: way.room(in: size).width)
        output = VideoDataOutput(name: "preview", settings: settings) { [painter] in painter.take($0) }
        painter.isFed(by: output)
    }

    /// Leaves the terminal as it was. Idempotent.
    func close() { painter.close() }
}

/// Draws each frame in the place of the one before.
private final class Painter: Sendable {
    private enum State {
        /// Nothing has come.
        case waiting
        /// Since the first frame.
        case showing(KeyReader?, Drawn?)
        case closed
    }

    /// What stands on the screen.
    private struct Drawn: Equatable {
        var screen: TerminalSize
        var width: Int
        var height: Int
    }

    private let way: TerminalPicture
    private let closed: @Sendable () -> Void
    /// Held while something is written, so that nothing is drawn after the end.
    private let state = Mutex(State.waiting)
    private let output = Mutex(Weak())

    private struct Weak {
        weak var output: VideoDataOutput?
    }

    init(_ way: TerminalPicture, _ closed: @escaping @Sendable () -> Void) {
        (self.way, self.closed) = (way, closed)
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
        if fitted.width != width, let output = output.withLock({ $0.output }) {
            output.videoSettings = Painter.settings(width: fitted.width)
        }
        let room = way.room(in: size)
        guard width <= room.width, height <= room.height, let picture = RGBPicture(frame) else { return }
        let shown = way.sequence(picture)
        let drawn = Drawn(screen: size, width: width, height: height)
        state.withLock { [closed] state in
            var text = ""
            var (keys, before): (KeyReader?, Drawn?) = (nil, nil)
            switch state {
            case .closed: return
            case .showing(let reader, let last): (keys, before) = (reader, last)
            case .waiting:
                text = "\u{1B}[?1049h\u{1B}[?25l"
                keys = KeyReader(closed)
            }
            // The terminal shows what stands between these at once.
            text += "\u{1B}[?2026h"
            if drawn != before {
                let hint = keys == nil ? "Ctrl-C ends" : "Q or Ctrl-C ends"
                text += "\u{1B}[2J\u{1B}[\(size.rows);1H\u{1B}[2m\(hint)\u{1B}[0m"
            }
            text += "\u{1B}[H\(shown)\u{1B}[?2026l"
            Output.write(text, to: STDOUT_FILENO)
            state = .showing(keys, drawn)
        }
    }

    func close() {
        let keys = state.withLock { [way] state -> KeyReader? in
            defer { state = .closed }
            guard case .showing(let keys, _) = state else { return nil }
            Output.write("\(way.ending)\u{1B}[?25h\u{1B}[?1049l", to: STDOUT_FILENO)
            return keys
        }
        keys?.stop()
    }
}

extension RGBPicture {
    /// A copy of a frame of red, green and blue; `nil` for one of another format, or that was overwritten meanwhile.
    fileprivate init?(_ frame: VideoFrame) {
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
