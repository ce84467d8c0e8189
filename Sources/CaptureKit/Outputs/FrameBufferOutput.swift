public import CaptureCore
public import CaptureRing
import Synchronization

/// A source's own memory, mapped by this process: no recorder, no copy.
///
/// Either with a closure, which a thread of the output's own calls for every buffer once the session runs, or without,
/// to be read by `CaptureSession.reader(of:)`. Thread-safe.
public final class FrameBufferOutput: CaptureOutput {
    /// Takes a buffer; its bytes are good while `isIntact` says so.
    public typealias Handler = @Sendable (RingBuffer) -> Void

    /// The name in the session.
    public let name: String
    /// No file.
    public var file: Descriptor? { nil }
    /// The kind of input that it is fed by.
    public let mediaTypes: [MediaType]
    /// The output's description for the daemon.
    public var description: OutputDescription { OutputDescription(name: name, kind: .buffer, format: "") }

    /// Whether the output reads.
    private enum State {
        /// Not yet, or no longer.
        case idle
        /// The holder of this number is making the reader.
        case beginning(UInt64)
        case reading(BufferReading)
        /// For good.
        case stopped
    }
    private let handler: Handler?
    private let newest: Bool
    private let state = Mutex((state: State.idle, lastTurn: UInt64(0)))
    private let record = BufferRecord()

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

    /// Buffers that the handler was too slow for.
    public var missed: UInt64 { record.missed }

    /// Why reading did not begin, or why it ended without the session being stopped.
    public var failure: CaptureError? { record.end }

    /// Stops calling the handler, for good. Idempotent. Don't call it from the handler.
    public func stop() {
        let reading = state.withLock { state -> BufferReading? in
            defer { state.state = .stopped }
            if case .reading(let reading) = state.state { return reading }
            return nil
        }
        reading?.stop()
    }

    /// Stops calling the handler until a session is read again. When it returns, the handler does not run.
    func cease() async {
        let reading = state.withLock { state -> BufferReading? in
            switch state.state {
            case .reading(let reading):
                state.state = .idle
                return reading
            case .beginning:
                state.state = .idle
                return nil
            case .idle, .stopped: return nil
            }
        }
        await reading?.cease()
    }

    /// Claims the right to begin, if there is a handler and nobody else has begun.
    ///
    /// - Returns: The number to pass to `begin` or `fail`.
    func reserve() -> UInt64? {
        guard handler != nil else { return nil }
        return state.withLock { state in
            guard case .idle = state.state else { return nil }
            state.lastTurn += 1
            state.state = .beginning(state.lastTurn)
            return state.lastTurn
        }
    }

    /// Starts the thread, unless the output was removed or stopped meanwhile.
    func begin(_ reader: sending FrameBufferReader, _ turn: UInt64) throws(CaptureError) {
        guard let handler else { return }
        // From here on, only the thread uses the reader.
        let only = Handover(reader)
        let failure = state.withLock { [name, newest, record] state -> CaptureError? in
            guard case .beginning(turn) = state.state, let reader = only.take() else { return nil }
            do throws(CaptureError) {
                state.state = .reading(try BufferReading(name, reader, newest: newest, handler, record))
                return nil
            } catch {
                return error
            }
        }
        if let failure { throw failure }
    }

    /// Notes that reading could not begin.
    func fail(_ error: CaptureError, _ turn: UInt64) {
        state.withLock { state in
            guard case .beginning(turn) = state.state else { return }
            state.state = .idle
            record.failed(error)
        }
    }
}
