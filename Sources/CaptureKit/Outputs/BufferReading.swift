import CaptureCore
import CaptureRing
import CaptureSystem
import Synchronization

/// The thread that calls a buffer output's handler. Thread-safe.
final class BufferReading: Sendable {
    /// While nothing is captured, how often the thread looks whether it must stop, in nanoseconds.
    private static let patience: Int64 = 200_000_000

    /// Whether the thread must stop, and whether it has.
    private final class Progress: Sendable {
        let isStopped = Atomic<Bool>(false)
        private let state = Mutex((isOver: false, waiting: [CheckedContinuation<Void, Never>]()))

        func finish() {
            let waiting = state.withLock { state in
                defer { state = (true, []) }
                return state.waiting
            }
            for one in waiting { one.resume() }
        }

        func finished() async {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if !state.isOver { state.waiting.append(continuation) }
                    return state.isOver
                }
                if isOver { continuation.resume() }
            }
        }
    }

    private let progress = Progress()
    /// The caller that waits for the thread's end takes it.
    private let thread: Mutex<WorkerThread?>

    /// Starts to read.
    init(
        _ name: String,
        _ reader: sending FrameBufferReader,
        newest: Bool,
        _ handler: @escaping FrameBufferOutput.Handler,
        _ record: BufferRecord
    ) throws(CaptureError) {
        let only = Handover(reader)
        record.began()
        let progress = progress
        do throws(SystemError) {
            let thread = try WorkerThread(name: "capture-\(name)") {
                defer { progress.finish() }
                guard let reader = only.take() else { return }
                while !progress.isStopped.load(ordering: .acquiring) {
                    guard BufferReading.step(reader, newest, handler, record) else { return }
                }
            }
            self.thread = Mutex(thread)
        } catch {
            throw CaptureError(.internalFault, error)
        }
    }

    /// Stops the thread and waits for its end.
    func stop() {
        progress.isStopped.store(true, ordering: .releasing)
        guard let thread = take() else { return }
        // The handler may have released the output's last reference, on this thread.
        if thread.isCurrent { thread.detach() } else { thread.join() }
    }

    /// Stops the thread and waits for its end without blocking a thread.
    func cease() async {
        progress.isStopped.store(true, ordering: .releasing)
        await progress.finished()
        // The thread has nothing left to do, so this does not wait long.
        take()?.join()
    }

    private func take() -> WorkerThread? {
        thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
    }

    /// Waits once and handles the outcome. Returns false at the end.
    private static func step(
        _ reader: FrameBufferReader,
        _ newest: Bool,
        _ handler: FrameBufferOutput.Handler,
        _ record: BufferRecord
    ) -> Bool {
        do throws(CaptureError) {
            switch try reader.next(timeout: patience, newest: newest) {
            case .buffer(let buffer):
                handler(buffer)
                _ = reader.confirm(buffer)
                record.missed(reader.missed)
            case .timedOut: break
            case .ended(.stopped), .ended(.moved): return false
            case .ended(.revoked):
                record.failed(CaptureError(.revoked, "the consent was withdrawn"))
                return false
            case .ended(.deviceLost):
                record.failed(CaptureError(.deviceLost, "the device went away"))
                return false
            }
            return true
        } catch {
            record.failed(error)
            return false
        }
    }
}

/// What is known about an output's reading, over all its sessions. Thread-safe.
final class BufferRecord: Sendable {
    private struct State {
        var missedBefore: UInt64 = 0
        var missed: UInt64 = 0
        var end: CaptureError?
    }
    private let state = Mutex(State())

    /// Buffers that were overwritten before the handler could take them.
    var missed: UInt64 { state.withLock { $0.missedBefore + $0.missed } }

    /// Why reading ended.
    var end: CaptureError? { state.withLock { $0.end } }

    /// Notes that another reader begins.
    func began() {
        state.withLock { state in
            state.missedBefore += state.missed
            state.missed = 0
            state.end = nil
        }
    }

    /// Sets how many buffers this reader missed.
    func missed(_ count: UInt64) { state.withLock { $0.missed = count } }

    /// Notes that reading ended with a fault.
    func failed(_ error: CaptureError) { state.withLock { $0.end = error } }
}

/// Hands a value to the next thread that uses it, one thread at a time.
final class Handover<Value>: Sendable {
    private let value: Mutex<Value?>

    init(_ value: sending Value) {
        self.value = Mutex(value)
    }

    func take() -> sending Value? {
        value.withLock { value in
            let taken = value
            value = nil
            return taken
        }
    }
}
