import CaptureCore
import CaptureSystem
import Synchronization

/// One streaming of a device, made anew for each, and then used by the device's thread alone.
protocol DeviceRun: Sendable {
    /// Delivers until it is told to stop.
    ///
    /// - Throws: `.deviceLost` when the device went away or failed.
    mutating func stream(_ control: StreamControl) throws(CaptureError)
}

/// The one thread of a streaming device and what it is told.
///
/// Thread-safe. `stop` may even be called from the thread itself, as by someone who is just being told that the device
/// is gone: the thread is then left to end by itself.
final class DeviceThread: Sendable {
    private enum State {
        case idle
        case running(WorkerThread, StreamControl)
    }

    private let state = Mutex<State>(.idle)
    private let proof: ProofOfLife

    /// - Parameter proof: The thread stops its device while this proof is missing.
    init(_ proof: ProofOfLife) {
        self.proof = proof
    }

    deinit { stop() }

    /// Starts the thread with what streams into a sink; when that fails, `ended` hears why before the sink's stream ends.
    ///
    /// - Parameters:
    ///   - name: What `ps -T` shows, at most 15 bytes.
    ///   - bytes: What a buffer of `format` takes.
    ///   - make: Sets the device going, on the caller's thread.
    /// - Throws: `.wrongState` while a thread is running, `.internalFault` for slots that are too small, and when the
    ///   system has no thread to give; what `make` throws.
    func stream(
        _ name: String,
        _ format: MediaFormat,
        of bytes: Int,
        into sink: any MediaSink,
        ended: @escaping @Sendable (CaptureError) -> Void,
        _ make: (StreamControl) throws(CaptureError) -> any DeviceRun
    ) throws(CaptureError) {
        guard sink.slotCapacity >= bytes else {
            throw CaptureError(.internalFault, "a slot of \(sink.slotCapacity) bytes is too small for \(format)")
        }
        try state.withLock { state throws(CaptureError) in
            guard case .idle = state else {
                throw CaptureError(.wrongState, "the device is streaming already")
            }
            let control = try orFault { () throws(SystemError) in try StreamControl(sink, proof) }
            let run = try make(control)
            let thread = try orFault { () throws(SystemError) in
                try WorkerThread(name: name) {
                    var run = run
                    do throws(CaptureError) {
                        try run.stream(control)
                        control.ended()
                    } catch {
                        // Whoever sees the stream's end finds its reason known.
                        ended(error)
                        control.ended(.deviceLost)
                    }
                }
            }
            state = .running(thread, control)
        }
    }

    private func orFault<Value>(_ work: () throws(SystemError) -> Value) throws(CaptureError) -> Value {
        return try CaptureError.wrap(.internalFault, try work())
    }

    /// Lets the stream go on into another sink: `MediaSource.move`.
    func move(to sink: any MediaSink, atOnce: Bool) throws(CaptureError) {
        let control = state.withLock { state -> StreamControl? in
            guard case .running(_, let control) = state else { return nil }
            return control
        }
        guard let control else { throw CaptureError(.wrongState, "the device is not streaming") }
        try control.move(to: sink, atOnce: atOnce)
    }

    /// Stops the thread and waits for its end; idempotent.
    func stop() {
        let running = state.withLock { state -> (WorkerThread, StreamControl)? in
            guard case .running(let thread, let control) = state else { return nil }
            state = .idle
            return (thread, control)
        }
        guard let (thread, control) = running else { return }
        control.stop()
        if thread.isCurrent { thread.detach() } else { thread.join() }
    }
}
