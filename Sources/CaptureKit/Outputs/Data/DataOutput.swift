public import CaptureCore
import CaptureRing
import Synchronization

/// An event for the handler of a data output, which takes one after the other.
public enum DataOutputEvent<Data: Sendable>: Sendable {
    /// A frame, or a stretch of sound.
    case data(Data)
    /// The number of frames, or periods of sound, that were lost before what comes next.
    case dropped(UInt64, DropReason)
    /// Nothing more comes until the session is started again. `nil` if that was asked for: the session stopped, or the
    /// output was removed or stopped.
    case ended(CaptureError?)
}

/// Why the handler of a data output or of a synchronizer did not get something.
public enum DropReason: String, Sendable, CaseIterable {
    /// The handler was busy: the frame or period was overwritten, or passed over for a newer one. In a synchronizer
    /// also: the output did not bring its part in time.
    case late
    /// The device, its driver or the daemon lost it.
    case device
    /// It was broken, for example a truncated JPEG image.
    case damaged
    /// The program holds all the memory of the output: 16 frames, or 256 periods of sound.
    case outOfMemory = "out-of-memory"
    /// Only in a synchronizer: the output captured nothing at that time.
    case missing
}

/// An output that hands its data to a handler of this program, which a thread of the output's own calls: a
/// `VideoDataOutput`, an `AudioDataOutput` or a `CameraMetadataOutput`.
///
/// It goes on by itself when the stream moves to other memory, after an interruption and with another format. A slow
/// handler only makes this output lose something. Thread-safe.
public class DataOutput: CaptureOutput, @unchecked Sendable {
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
        /// Its handler may still run.
        case ceasing(BufferReading)
        /// For good; its handler may still run.
        case stopped(BufferReading?)

        var reading: BufferReading? {
            switch self {
            case .idle, .beginning: nil
            case .reading(let reading), .ceasing(let reading): reading
            case .stopped(let reading): reading
            }
        }
    }
    private let state = Mutex((state: State.idle, lastTurn: UInt64(0)))
    private let record = BufferRecord()
    /// The session that the output was added to.
    let place = SessionPlace()

    init(_ mediaType: MediaType, name: String) {
        self.name = name
        mediaTypes = [mediaType]
    }

    deinit {
        halt()
    }

    /// Frames or periods that the handler was too slow for.
    public var missed: UInt64 { record.missed }

    /// Why reading did not begin, or why it ended without the session being stopped.
    public var failure: CaptureError? { record.end }

    /// Stops calling the handler, for good, and waits until the handler has returned. The output then lets go of its
    /// handler, or of its `DataOutputSynchronizer`. Idempotent. Don't call it from the handler.
    public func stop() {
        halt()
        forgetHandler()
    }

    private func halt() {
        let reading = state.withLock { state in
            state.state = .stopped(state.state.reading)
            return state.state.reading
        }
        reading?.stop()
    }

    /// Makes of a stream's buffers what the handler gets; `nil` without a handler.
    func makeHandling() -> sending (any BufferHandling)? { nil }

    /// Lets go of the handler.
    func forgetHandler() {}

    /// Whether it has a handler, its own or a synchronizer's.
    var hasHandler: Bool { makeHandling() != nil }

    /// Stops calling the handler until a session is read again. When it returns, the handler does not run.
    func cease() async {
        if let reading = startCeasing() { await ceased(reading) }
    }

    /// Turns reading off, if it was on or is about to begin.
    ///
    /// - Returns: The reading whose handler may still run.
    func startCeasing() -> BufferReading? {
        state.withLock { state in
            switch state.state {
            case .reading(let reading): state.state = .ceasing(reading)
            case .beginning: state.state = .idle
            case .idle, .ceasing, .stopped: break
            }
            return state.state.reading
        }
    }

    /// Waits until a reading that must stop has stopped.
    private func ceased(_ reading: BufferReading) async {
        await reading.cease()
        state.withLock { state in
            if case .ceasing(let now) = state.state, now === reading { state.state = .idle }
        }
    }

    /// Has the session read an output that was just given its handler, if the session runs.
    func handlerCame() {
        Task { [place] in await place.session?.beginIfRunning() }
    }

    /// Claims the right to begin, if there is a handler and nobody else has begun. Waits for a reading that ceases.
    ///
    /// - Returns: The number to pass to `begin` or `fail`.
    func reserve() async -> UInt64? {
        guard hasHandler else { return nil }
        while true {
            let (turn, ceasing) = state.withLock { state -> (UInt64?, BufferReading?) in
                if case .ceasing(let reading) = state.state { return (nil, reading) }
                guard case .idle = state.state else { return (nil, nil) }
                state.lastTurn += 1
                state.state = .beginning(state.lastTurn)
                return (state.lastTurn, nil)
            }
            guard let ceasing else { return turn }
            await ceased(ceasing)
        }
    }

    /// Starts the thread, unless the output was removed or stopped meanwhile.
    func begin(_ reader: sending FrameBufferReader, _ turn: UInt64) throws(CaptureError) {
        guard let handling = makeHandling() else { return }
        // From here on, only the thread uses them.
        let (only, own) = (Handover(reader), Handover(handling))
        let failure = state.withLock { [name, record] state -> CaptureError? in
            guard case .beginning(turn) = state.state, let reader = only.take(), let handling = own.take() else {
                return nil
            }
            do throws(CaptureError) {
                state.state = .reading(try BufferReading(name, reader, handling, record))
                return nil
            } catch {
                return error
            }
        }
        if let failure { throw failure }
    }

    /// Notes that reading could not begin, and tells the handler, on a thread that `stop` and `cease` wait for.
    func fail(_ error: CaptureError, _ turn: UInt64) {
        guard let handling = makeHandling() else { return }
        let own = Handover(handling)
        let untold = state.withLock { [name, record] state -> Handover<any BufferHandling>? in
            guard case .beginning(turn) = state.state else { return nil }
            record.failed(error)
            do throws(CaptureError) {
                state.state = .ceasing(try BufferReading(name, telling: own, error))
                return nil
            } catch {
                state.state = .idle
                return own
            }
        }
        // Without a thread, the caller's must do.
        untold?.take()?.end(error)
    }
}
