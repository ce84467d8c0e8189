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
    /// The largest initial size of a window, in pixels.
    private static let largest = (width: 1280, height: 720)
    private let window: GTK.Object

    private init(_ gtk: GTK, _ window: GTK.Object, _ preview: VideoPreview) {
        (self.gtk, self.window, self.preview) = (gtk, window, preview)
    }

    /// The output that feeds it. Add it to a session.
    public var output: VideoDataOutput { preview.output }

    /// Shows a text in the place of a picture, until the next frame.
    public func tell(_ text: String) { preview.screen.tell(text) }

    /// Makes a window. Waits for the display, for ten seconds at most.
    ///
    /// - Parameters:
    ///   - title: The text of its title bar.
    ///   - name: The output's name in the session.
    ///   - failed: Called on the output's thread when no more frames come, without the session having been stopped.
    ///   - closed: Called on the thread of windows when the person closes it.
    /// - Throws: `inputOutput` if there is no GTK 4 or no display, or if the program runs GTK itself. Such a program takes
    ///   a `VideoPreview`. `timedOut` if the display does not answer.
    public static func open(
        title: String,
        name: String = "preview",
        failed: @escaping @Sendable (CaptureError) -> Void = { _ in },
        closed: @escaping @Sendable () -> Void
    ) async throws(CaptureError) -> PreviewWindow {
        let opened: Result<PreviewWindow, CaptureError>? = await within(.seconds(10)) { done in
            Task {
                do throws(CaptureError) {
                    let gtk = try await thread.value.get()
                    turns.begin()
                    gtk.later { done(.success(make(gtk, title, name, failed, closed))) }
                } catch {
                    done(.failure(error))
                }
            }
        }
        guard let opened else { throw CaptureError(.timedOut, "the display does not answer") }
        return try opened.get()
    }

    deinit {
        if isClosed.exchange(true, ordering: .relaxed) { return }
        let (gtk, window, screen) = (gtk, window, preview.screen)
        gtk.later { PreviewWindow.destroy(gtk, window, screen) }
    }

    /// Takes the window off the screen, and waits until GTK is through with it, for two seconds at most. Call it before the
    /// process exits: the graphics libraries may crash if they still draw then. Idempotent.
    public func close() async {
        if isClosed.exchange(true, ordering: .relaxed) { return }
        let (gtk, window, screen) = (gtk, window, preview.screen)
        // A display that hangs is left alone.
        _ = await PreviewWindow.within(.seconds(2)) { done in
            gtk.later {
                PreviewWindow.destroy(gtk, window, screen)
                PreviewWindow.turns.afterThis { done(()) }
            }
        }
    }

    /// Has the window come onto the screen, and say so, if there is no frame within two seconds.
    package func expectFrame() {
        let screen = preview.screen
        gtk.later { screen.expectFrame() }
    }

    /// Waits for a result that comes on another thread.
    ///
    /// - Returns: `nil` if it did not come in time.
    private static func within<Value: Sendable>(
        _ time: Duration,
        _ start: (@escaping @Sendable (Value) -> Void) -> Void
    ) async -> Value? {
        await withCheckedContinuation { continuation in
            let once = Once(continuation)
            start { once.resume($0) }
            Task {
                try? await Task.sleep(for: time)
                once.resume(nil)
            }
        }
    }

    private static func destroy(_ gtk: GTK, _ window: GTK.Object, _ screen: PreviewScreen) {
        screen.end()
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
                        guard gtk.isInitialized() == 0 || gtk.display() == 0 else {
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
        _ failed: @escaping @Sendable (CaptureError) -> Void,
        _ closed: @escaping @Sendable () -> Void
    ) -> PreviewWindow {
        let window = gtk.sink(gtk.makeWindow())
        let preview = VideoPreview(gtk, name: name, failed: failed) { width, height in
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

/// Resumes a continuation with what comes first. Thread-safe.
private final class Once<Value: Sendable>: Sendable {
    private let waiting: Mutex<CheckedContinuation<Value?, Never>?>

    init(_ continuation: CheckedContinuation<Value?, Never>) { waiting = Mutex(continuation) }

    func resume(_ value: Value?) { waiting.withLock { $0.take() }?.resume(returning: value) }
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
            guard GTK.closingKeys.contains(key) else { return 0 }
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
