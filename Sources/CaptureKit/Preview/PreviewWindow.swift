import CaptureCore
import CaptureSystem
import Dispatch
import Glibc
import Synchronization

/// A window that shows a camera while a session runs, for programs that have no windows of their own.
///
/// It comes onto the screen with the first frame, and shows the same as a `VideoPreview`. The person closes it with its
/// button, Escape or Q. All windows have one thread, which runs GTK. Thread-safe.
public final class PreviewWindow: Sendable {
    private let isClosed = Atomic(false)
    private let preview: VideoPreview
    private let gtk: GTK
    /// What a window has of a larger picture at first. The person can make it larger.
    private static let largest = (width: 1280, height: 720)
    private let window: GTK.Object

    private init(_ gtk: GTK, _ window: GTK.Object, _ preview: VideoPreview) {
        (self.gtk, self.window, self.preview) = (gtk, window, preview)
    }

    /// The output that feeds it. Add it to a session.
    public var output: VideoDataOutput { preview.output }

    /// Shows a text in the place of a picture, until the next frame.
    public func tell(_ text: String) { preview.screen.tell(text) }

    /// Makes a window.
    ///
    /// - Parameters:
    ///   - title: The text of its title bar.
    ///   - name: The output's name in the session.
    ///   - closed: Called on the thread of windows when the person closes it.
    /// - Throws: `inputOutput` if there is no GTK 4 or no display, or if the program runs GTK itself. Such a program takes
    ///   a `VideoPreview`.
    public static func open(
        title: String,
        name: String = "preview",
        closed: @escaping @Sendable () -> Void
    ) async throws(CaptureError) -> PreviewWindow {
        let gtk = try await thread.value.get()
        turns.begin()
        return await withCheckedContinuation { continuation in
            gtk.later { continuation.resume(returning: make(gtk, title, name, closed)) }
        }
    }

    deinit {
        if isClosed.exchange(true, ordering: .relaxed) { return }
        let (gtk, window) = (gtk, window)
        gtk.later { PreviewWindow.destroy(gtk, window) }
    }

    /// Takes the window off the screen, and waits until GTK is through with it. Call it before the process exits: the
    /// graphics libraries may crash if they still draw then. Idempotent.
    public func close() async {
        if isClosed.exchange(true, ordering: .relaxed) { return }
        let (gtk, window) = (gtk, window)
        await withCheckedContinuation { continuation in
            gtk.later {
                PreviewWindow.destroy(gtk, window)
                PreviewWindow.turns.afterThis { continuation.resume() }
            }
        }
    }

    private static func destroy(_ gtk: GTK, _ window: GTK.Object) {
        gtk.destroy(window)
        gtk.release(window)
        turns.end()
    }

    /// When the thread runs GTK's loop: as long as there are windows.
    private static let turns = LoopTurns()

    /// The thread that runs GTK, from the first window on.
    private static let thread = Task { () -> Result<GTK, CaptureError> in
        await withCheckedContinuation { continuation in
            do throws(SystemError) {
                try WorkerThread.detached(name: "windows") {
                    do throws(CaptureError) {
                        let gtk = try GTK.loaded.get()
                        guard gtk.isInitialized() == 0 else {
                            throw CaptureError(.inputOutput, "this program runs GTK itself: show a VideoPreview in it")
                        }
                        try gtk.begin()
                        continuation.resume(returning: .success(gtk))
                        while true {
                            turns.wait()
                            _ = gtk.iterate(0, 1)
                        }
                    } catch {
                        continuation.resume(returning: .failure(error))
                    }
                }
            } catch {
                continuation.resume(returning: .failure(CaptureError(.internalFault, error)))
            }
        }
    }

    private static func make(
        _ gtk: GTK,
        _ title: String,
        _ name: String,
        _ closed: @escaping @Sendable () -> Void
    ) -> PreviewWindow {
        let window = gtk.sink(gtk.makeWindow())
        let preview = VideoPreview(gtk, name: name) { width, height in
            let most = PreviewWindow.largest
            let part = min(1, Double(most.width) / Double(width), Double(most.height) / Double(height))
            gtk.setDefaultSize(window, Int32(Double(width) * part), Int32(Double(height) * part))
            gtk.present(window)
        }
        unsafe gtk.setTitle(window, Printable.text(title))
        unsafe gtk.setIcon(window, "camera-web")
        gtk.setWindowChild(window, preview.screen.widget)
        // Hidden, and destroyed once the program lets go of it.
        gtk.connect(
            window,
            closing: {
                gtk.setVisible(window, 0)
                closed()
            }
        )
        return PreviewWindow(gtk, window, preview)
    }
}

/// Counts windows, for the thread that runs GTK while there are any. Thread-safe.
private final class LoopTurns: Sendable {
    private struct State {
        var windows = 0
        var waiting: [@Sendable () -> Void] = []
    }
    private let state = Mutex(State())
    private let more = DispatchSemaphore(value: 0)

    /// A window is about to be made.
    func begin() {
        state.withLock { $0.windows += 1 }
        more.signal()
    }

    /// A window was destroyed.
    func end() { state.withLock { $0.windows -= 1 } }

    /// Calls something once the thread is through with this turn of the loop.
    func afterThis(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.waiting.append(body) } }

    /// Waits until there are windows.
    func wait() {
        while true {
            let (windows, waiting) = state.withLock { state in
                defer { state.waiting = [] }
                return (state.windows, state.waiting)
            }
            for body in waiting { body() }
            if windows > 0 { return }
            more.wait()
        }
    }
}

extension GTK {
    /// What the handlers of a window's signals have.
    private final class Closing: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }

        static func call(_ data: UnsafeMutableRawPointer?) {
            if let data = unsafe data { unsafe Unmanaged<Closing>.fromOpaque(data).takeUnretainedValue().body() }
        }
    }

    /// Calls something when the person closes a window: by its button, Escape or Q. GTK does no more about it.
    fileprivate func connect(_ window: Object, closing body: @escaping @Sendable () -> Void) {
        let request: Handler = { _, data in
            unsafe Closing.call(data)
            return 1
        }
        let pressed: KeyHandler = { _, key, _, _, data in
            guard key == GTK.escape || key == GTK.letterQ else { return 0 }
            unsafe Closing.call(data)
            return 1
        }
        let keys = makeKeyController()
        addController(window, keys)
        unsafe connect(window, "close-request", unsafeBitCast(request, to: UnsafeMutableRawPointer.self), Closing(body))
        unsafe connect(keys, "key-pressed", unsafeBitCast(pressed, to: UnsafeMutableRawPointer.self), Closing(body))
    }

    private func connect(
        _ object: Object,
        _ signal: String,
        _ handler: UnsafeMutableRawPointer,
        _ closing: Closing
    ) {
        let release: @convention(c) (UnsafeMutableRawPointer?, Object) -> Void = { data, _ in
            if let data = unsafe data { unsafe Unmanaged<Closing>.fromOpaque(data).release() }
        }
        _ = unsafe connectSignal(object, signal, handler, Unmanaged.passRetained(closing).toOpaque(), release, 0)
    }
}
