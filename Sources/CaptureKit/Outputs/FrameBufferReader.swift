import CaptureBus
public import CaptureCore
public import CaptureRing
import CaptureSystem
import Synchronization

/// Reads a source's own memory, without a copy: the frames of a camera or the periods of a microphone.
///
/// Any number of readers share one ring; a slow one is told how many buffers it missed and disturbs nobody. While the
/// session is interrupted, or the connection disabled, nothing comes; then the first buffer after that does, perhaps in
/// another format.
/// Thread-bound: one thread calls `next`. Blocking, so never in a task: a `DataOutput` has a thread for it.
public final class FrameBufferReader {
    /// The result of waiting.
    public enum Event: Sendable {
        /// The next buffer.
        case buffer(RingBuffer)
        /// Nothing in time.
        case timedOut
        /// Nothing more will come.
        case ended(StreamEnd)
    }

    private var ring: RingReader
    private let moves: BufferMoves
    private var missedBefore: UInt64 = 0
    /// When the ring was seen to have ended.
    private var stopped: Timestamp?
    /// Follows the stream into other rings while the reader exists.
    private var following: Task<Void, Never>?

    init(_ file: Descriptor, _ moves: BufferMoves) throws(CaptureError) {
        ring = try RingReader(mapping: file)
        self.moves = moves
    }

    deinit {
        following?.cancel()
    }

    /// Follows an output of a session. The events must begin before the ring was asked for.
    fileprivate func follow(
        _ events: AsyncStream<SessionEvent>,
        of hub: SessionHub,
        _ output: String,
        from file: Descriptor
    ) {
        let moves = moves
        let first = file.identity
        following = Task { await moves.follow(events, of: hub, output, from: first) }
    }

    /// The format of the buffers.
    public var format: MediaFormat { ring.format }

    /// Buffers that were overwritten or passed over before they were read.
    public var missed: UInt64 { missedBefore &+ ring.missed }

    /// How often the stream went on in another ring.
    private(set) var moveCount = 0

    /// Waits for a buffer; wakes within microseconds of its publication.
    ///
    /// - Parameters:
    ///   - nanoseconds: How long to wait; 0 only looks, less than 0 waits without limit.
    ///   - newest: Passes over everything but the newest buffer.
    /// - Throws: `badData` when the ring is damaged; `unreachable` when the daemon went away; what else ended the session, for
    ///   which `next` waits up to five seconds after the ring has ended.
    public func next(timeout nanoseconds: Int64 = -1, newest: Bool = false) throws(CaptureError) -> Event {
        let begun = Timestamp.now
        while true {
            let left = nanoseconds < 0 ? .max : max(0, nanoseconds - (Timestamp.now - begun))
            let part = min(left, FrameBufferReader.look)
            switch try ring.next(timeout: part, newest: newest) {
            case .buffer(let buffer):
                // The ring of a camera that others use goes on when the session has ended.
                if let end = moves.end, buffer.published > end.time { return try FrameBufferReader.event(end) }
                return .buffer(buffer)
            case .timedOut:
                if let end = moves.end { return try FrameBufferReader.event(end) }
                if part == left { return .timedOut }
            case .ended(.moved):
                guard let move = try moves.next(timeout: part) else {
                    if part == left { return .timedOut }
                    continue
                }
                if case .stopped = try take(move) { return .ended(.stopped) }
            case .ended(.stopped):
                // Why the session has ended comes over the bus, a moment later.
                let since = stopped ?? .now
                stopped = since
                guard let move = try moves.next(timeout: part) else {
                    if Timestamp.now - since > FrameBufferReader.patience { return .ended(.stopped) }
                    if part == left { return .timedOut }
                    continue
                }
                if case .stopped = try take(move) { return .ended(.stopped) }
                stopped = nil
            case .ended(let end): return .ended(end)
            }
        }
    }

    /// How often a wait is broken off to see whether the session has ended, in nanoseconds.
    private static let look: Int64 = 200_000_000
    /// How long the reason of an end is waited for, in nanoseconds.
    private static let patience: Int64 = 5_000_000_000

    /// The end of a session whose ring goes on.
    private static func event(_ end: BufferMoves.End) throws(CaptureError) -> Event {
        if let error = end.error { throw error }
        return .ended(.stopped)
    }

    /// Goes on in another ring, if that is what became of the stream.
    private func take(_ move: BufferMoves.Move) throws(CaptureError) -> BufferMoves.Move {
        if case .ring(let file, let fromStart) = move {
            missedBefore &+= ring.missed
            ring = try RingReader(mapping: file, fromStart: fromStart)
            moveCount += 1
        }
        return move
    }

    /// Says whether a buffer was whole while it was used, and counts it as missed if not.
    public func confirm(_ buffer: RingBuffer) -> Bool { ring.confirm(buffer) }
}

/// The rings that a stream went on in, handed from the bus to the reader's thread.
final class BufferMoves: Sendable {
    /// What became of the stream.
    enum Move {
        case ring(Descriptor, fromStart: Bool)
        /// The session stopped as it was asked to.
        case stopped
    }

    private struct State {
        var files: [(Descriptor, fromStart: Bool)] = []
        var end: End?
    }

    /// That nothing more comes.
    struct End {
        /// `nil` if the session stopped as it was asked to.
        var error: CaptureError?
        /// When it was told.
        var time = Timestamp.now
    }
    private let state = Mutex(State())
    private let signal: EventSignal

    init() throws(CaptureError) {
        signal = try CaptureError.wrap(.internalFault, try EventSignal())
    }

    /// The stream goes on in another ring.
    ///
    /// - Parameter fromStart: Whether everything in it was captured after what was in the one before; after an
    ///   interruption others may have captured meanwhile, which is not for this reader.
    func put(_ file: Descriptor, fromStart: Bool) {
        state.withLock { $0.files.append((file, fromStart)) }
        signal.raise()
    }

    /// Nothing more will come; a reader that waits is told why, `nil` for as it was asked.
    func end(_ error: CaptureError?) {
        state.withLock { $0.end = $0.end ?? End(error: error) }
        signal.raise()
    }

    /// The end, if it was told; `nil` as long as the stream goes on, also in a ring that was not read yet.
    var end: End? { state.withLock { $0.files.isEmpty ? $0.end : nil } }

    /// Waits for the next ring.
    ///
    /// - Returns: `nil` when none came in time.
    func next(timeout nanoseconds: Int64) throws(CaptureError) -> Move? {
        while true {
            signal.lower()
            let (file, end) = state.withLock { ($0.files.isEmpty ? nil : $0.files.removeFirst(), $0.end) }
            if let file { return .ring(file.0, fromStart: file.fromStart) }
            if let end {
                if let error = end.error { throw error }
                return .stopped
            }
            let limit = nanoseconds < 0 ? -1 : Int32(clamping: (nanoseconds + 999_999) / 1_000_000)
            let come = try CaptureError.wrap(.internalFault, try Poll.wait(signal.descriptor, timeout: limit))
            if come.isEmpty { return nil }
        }
    }
}

extension BufferMoves {
    /// Moves the reader to each new ring of the output.
    ///
    /// - Parameter first: The ring that the reader has now.
    fileprivate func follow(
        _ events: AsyncStream<SessionEvent>,
        of hub: SessionHub,
        _ output: String,
        from first: FileIdentity?
    ) async {
        var isAfterInterruption = false
        // A ring is never read from its start again: the event about a move may come after its new ring was opened.
        var last = first
        for await event in events {
            switch event {
            case .bufferMoved(output):
                do throws(CaptureError) {
                    let next = try await hub.openBuffer(output)
                    if next.identity == last { continue }
                    last = next.identity
                    put(next, fromStart: !isAfterInterruption)
                    isAfterInterruption = false
                } catch {
                    // Interrupted or ended meanwhile. The session's state tells of both, and a move if it goes on.
                    if ![.wrongState, .switchedOff, .userAway].contains(error.code) { end(error) }
                }
            // Not after a pause: then the stream stays in its ring.
            case .changed(let status) where status.state == .suspended:
                if status.reason?.code != .timedOut, status.reason?.code != .noSignal { isAfterInterruption = true }
            case .changed(let status) where status.state.isFinal: end(status.reason)
            default: continue
            }
        }
    }
}

extension CaptureSession {
    /// A reader of a running session's buffer output.
    ///
    /// - Parameter output: The name of a `FrameBufferOutput` or of a data output.
    /// - Throws: Why the start failed, if it did; `wrongState` unless the session runs, and while the connection is disabled;
    ///   `notPermitted` for another program's session.
    public func reader(of output: String) async throws(CaptureError) -> sending FrameBufferReader {
        let hub = try await create()
        // Before the ring is asked for, so that no move is missed between.
        let events = hub.events()
        let file = try await hub.openBuffer(output)
        let reader = try FrameBufferReader(file, try BufferMoves())
        reader.follow(events, of: hub, output, from: file)
        return reader
    }

    /// Starts to read the data outputs that have a handler and are not being read.
    ///
    /// - Returns: The first error. That output's `failure` has it, too.
    @discardableResult
    func beginBuffers() async -> CaptureError? {
        let before = beginning
        let task = Task { () -> CaptureError? in
            _ = await before?.value
            return await beginEach()
        }
        beginning = task
        return await task.value
    }

    /// Starts to read an output that has got its handler meanwhile.
    func beginIfRunning() async {
        if hub?.status.state == .running { await beginBuffers() }
    }

    /// Tells an output of its session.
    func place(_ output: any CaptureOutput) async {
        (output as? PhotoOutput)?.place.session = self
        guard let data = output as? DataOutput else { return }
        data.place.session = self
        // A synchronizer may have given it its handler meanwhile.
        await beginIfRunning()
    }

    private func beginEach() async -> CaptureError? {
        var fault: CaptureError?
        let silent = disabled.map(\.output)
        for case let output as DataOutput in knownOutputs where !silent.contains(output.name) {
            guard let turn = await output.reserve() else { continue }
            do throws(CaptureError) {
                try output.begin(try await reader(of: output.name), turn)
            } catch {
                output.fail(error, turn)
                fault = fault ?? error
            }
        }
        return fault
    }
}
