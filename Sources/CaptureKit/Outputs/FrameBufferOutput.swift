public import CaptureCore
public import CaptureRing
import CaptureSystem
import Synchronization

/// A source's own memory, mapped by this process: no recorder, no copy.
///
/// Either with a closure, which a thread of the output's own calls for every buffer once the session runs, or without,
/// to be read by `CaptureSession.reader(of:)`. Thread-safe.
public final class FrameBufferOutput: CaptureOutput {
    /// Takes a buffer; its bytes are good while `isIntact` says so.
    public typealias Handler = @Sendable (RingBuffer) -> Void

    /// How often the thread looks whether it is to stop while nothing is captured, in nanoseconds.
    private static let patience: Int64 = 200_000_000

    /// The name in the session.
    public let name: String
    /// No file.
    public var file: Descriptor? { nil }
    /// The kind of input that it is fed by.
    public let mediaTypes: [MediaType]
    /// What is asked of the daemon.
    public var description: OutputDescription { OutputDescription(name: name, kind: .buffer, format: "") }

    private struct State {
        var thread: WorkerThread?
        var missed: UInt64 = 0
        var end: CaptureError?
    }
    private let handler: Handler?
    private let newest: Bool
    private let state = Mutex(State())
    private let isStopped = Atomic<Bool>(false)

    /// A buffer output.
    ///
    /// - Parameters:
    ///   - mediaType: Picture or sound.
    ///   - name: The name in the session.
    ///   - newest: Whether a handler that falls behind is given the newest buffer next instead of every one.
    ///   - handler: Called on the output's own thread; what takes long only makes this reader miss buffers.
    public init(
        _ mediaType: MediaType = .video,
        name: String = "buffer",
        newest: Bool = true,
        handler: Handler? = nil
    ) {
        self.name = name
        mediaTypes = [mediaType]
        self.newest = newest
        self.handler = handler
    }

    deinit {
        stop()
    }

    /// Whether the output reads by itself.
    var hasHandler: Bool { handler != nil }

    /// Buffers that the handler was too slow for.
    public var missed: UInt64 { state.withLock { $0.missed } }

    /// Why reading ended otherwise than by the session's stop.
    public var failure: CaptureError? { state.withLock { $0.end } }

    /// Calls the handler no more. Idempotent; never from the handler.
    public func stop() {
        isStopped.store(true, ordering: .releasing)
        state.withLock { state in
            defer { state.thread = nil }
            return state.thread
        }?.join()
    }

    /// Starts the thread, once.
    func begin(_ reader: sending FrameBufferReader) throws(CaptureError) {
        guard let handler, state.withLock({ $0.thread == nil }) else { return }
        // The reader is used by the thread alone from here on.
        let only = Handover(reader)
        do throws(SystemError) {
            let thread = try WorkerThread(name: "capture-\(name)") { [weak self, newest] in
                guard let reader = only.take() else { return }
                while let self, !self.isStopped.load(ordering: .acquiring) {
                    guard self.step(reader, newest, handler) else { return }
                }
            }
            state.withLock { $0.thread = thread }
        } catch {
            throw CaptureError(.internalFault, error)
        }
    }

    /// One wait and what came of it; false when there is nothing more.
    private func step(_ reader: FrameBufferReader, _ newest: Bool, _ handler: Handler) -> Bool {
        do throws(CaptureError) {
            switch try reader.next(timeout: FrameBufferOutput.patience, newest: newest) {
            case .buffer(let buffer):
                handler(buffer)
                _ = reader.confirm(buffer)
                state.withLock { $0.missed = reader.missed }
            case .timedOut: break
            case .ended(.stopped), .ended(.moved): return false
            case .ended(.revoked):
                state.withLock { $0.end = CaptureError(.revoked, "the consent was withdrawn") }
                return false
            case .ended(.deviceLost):
                state.withLock { $0.end = CaptureError(.deviceLost, "the device went away") }
                return false
            }
            return true
        } catch {
            state.withLock { $0.end = error }
            return false
        }
    }
}

/// Hands a value that belongs to one thread at a time to the next one.
private final class Handover<Value>: Sendable {
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
