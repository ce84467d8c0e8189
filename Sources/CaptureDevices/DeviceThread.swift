import CaptureCore
import CaptureSystem
import Synchronization

/// The one thread of a streaming device and the event that stops it.
///
/// Thread-safe. `stop` may even be called from the thread itself, as by someone who is just being told that the device
/// is gone: the thread is then left to end by itself.
final class DeviceThread: Sendable {
    private enum State {
        case idle
        case running(WorkerThread, EventSignal)
    }

    private let state = Mutex<State>(.idle)

    init() {}

    deinit { stop() }

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - name: What `ps -T` shows, at most 15 bytes.
    ///   - body: Runs on the thread until the descriptor it is given is readable.
    /// - Throws: `.wrongState` while a thread is running, `.internalFault` when the system has none to give.
    func start(_ name: String, _ body: @escaping @Sendable (_ stop: Int32) -> Void) throws(CaptureError) {
        try state.withLock { state throws(CaptureError) in
            guard case .idle = state else {
                throw CaptureError(.wrongState, "the device is streaming already")
            }
            do throws(SystemError) {
                let signal = try EventSignal()
                let thread = try WorkerThread(name: name) { body(signal.descriptor) }
                state = .running(thread, signal)
            } catch {
                throw CaptureError(.internalFault, error)
            }
        }
    }

    /// Starts the thread with what streams into a sink; when that fails, the sink's stream ends before `ended` hears why.
    ///
    /// - Parameters:
    ///   - name: What `ps -T` shows, at most 15 bytes.
    ///   - bytes: What a buffer of `format` takes.
    /// - Throws: `.wrongState` while a thread is running, `.internalFault` for slots that are too small, and when the
    ///   system has no thread to give.
    func stream(
        _ name: String,
        _ format: MediaFormat,
        of bytes: Int,
        into sink: any MediaSink,
        ended: @escaping @Sendable (CaptureError) -> Void,
        _ body: @escaping @Sendable (_ stop: Int32) throws(CaptureError) -> Void
    ) throws(CaptureError) {
        guard sink.slotCapacity >= bytes else {
            throw CaptureError(.internalFault, "a slot of \(sink.slotCapacity) bytes is too small for \(format)")
        }
        try start(name) { stop in
            do throws(CaptureError) {
                try body(stop)
            } catch {
                sink.finish(.deviceLost)
                ended(error)
            }
        }
    }

    /// Stops the thread and waits for its end; idempotent.
    func stop() {
        let running = state.withLock { state -> (WorkerThread, EventSignal)? in
            guard case .running(let thread, let signal) = state else { return nil }
            state = .idle
            return (thread, signal)
        }
        guard let (thread, signal) = running else { return }
        signal.raise()
        if thread.isCurrent { thread.detach() } else { thread.join() }
    }
}
