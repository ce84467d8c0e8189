import CaptureCore
import CaptureRing
import CaptureSystem
import Synchronization

/// Makes of a ring's buffers what a data output's handler gets. Thread-bound to the thread that reads.
protocol BufferHandling: AnyObject {
    /// Whether everything but the newest buffer is passed over.
    var takesNewest: Bool { get }

    /// Takes a buffer, which may be overwritten meanwhile.
    ///
    /// - Returns: Whether the buffer is lost if it was overwritten until now. It is not once the handler got a copy.
    /// - Throws: `noSuchFormat` if it cannot be brought into the format that was asked for.
    func take(_ buffer: RingBuffer, of format: MediaFormat) throws(CaptureError) -> Bool

    /// The stream goes on in other memory, where buffers may be counted anew.
    func move()

    /// How many of some buffers, lost before a time, the handler would have been given. Asked once about each.
    func wanted(_ count: UInt64, before time: Timestamp) -> UInt64

    /// Some were lost before what comes next.
    func lose(_ count: UInt64, _ reason: DropReason)

    /// Nothing more comes; `nil` if that was asked for.
    func end(_ error: CaptureError?)
}

/// The part that the handlings of all outputs share. Thread-bound.
class DataHandling<Data: Sendable> {
    let name: String
    let handler: @Sendable (DataOutputEvent<Data>) -> Void
    final var losses = SourceLosses()

    init(_ name: String, _ handler: @escaping @Sendable (DataOutputEvent<Data>) -> Void) {
        self.name = name
        self.handler = handler
    }

    var takesNewest: Bool { false }

    func wanted(_ count: UInt64, before time: Timestamp) -> UInt64 { count }

    final func move() { losses = SourceLosses() }

    final func lose(_ count: UInt64, _ reason: DropReason) { handler(.dropped(count, reason)) }

    final func end(_ error: CaptureError?) { handler(.ended(error)) }
}

/// The thread that calls a data output's handler. Thread-safe.
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
    private let thread: WorkerThread
    /// Whether somebody has waited for the thread's end. Held while somebody does, so that others wait, too.
    private let isJoined = Mutex(false)

    /// Starts to read.
    convenience init(
        _ name: String,
        _ reader: sending FrameBufferReader,
        _ handling: sending any BufferHandling,
        _ record: BufferRecord
    ) throws(CaptureError) {
        let (only, own) = (Handover(reader), Handover(handling))
        record.began()
        try self.init(name) { progress in
            guard let reader = only.take(), let handling = own.take() else { return }
            var pass = Pass(reader: reader, handling: handling, record: record)
            var outcome = Outcome.goesOn
            while case .goesOn = outcome, !progress.isStopped.load(ordering: .acquiring) { outcome = pass.step() }
            if case .ended(let error?) = outcome {
                record.failed(error)
                handling.end(error)
            } else {
                handling.end(nil)
            }
        }
    }

    /// Only tells a handler that reading could not begin. On a failure, the handling is still to be taken.
    convenience init(
        _ name: String,
        telling handling: Handover<any BufferHandling>,
        _ error: CaptureError
    ) throws(CaptureError) {
        try self.init(name) { _ in handling.take()?.end(error) }
    }

    private init(_ name: String, _ body: @escaping @Sendable (Progress) -> Void) throws(CaptureError) {
        let progress = progress
        do throws(SystemError) {
            thread = try WorkerThread(name: "capture-\(name)") {
                defer { progress.finish() }
                body(progress)
            }
        } catch {
            throw CaptureError(.internalFault, error)
        }
    }

    /// Stops the thread and waits for its end.
    func stop() {
        progress.isStopped.store(true, ordering: .releasing)
        guard thread.isCurrent else { return join() }
        // The handler has released the output's last reference, on this thread, which cannot wait for itself.
        _ = isJoined.withLockIfAvailable { isJoined in
            if !isJoined { thread.detach() }
            isJoined = true
        }
    }

    /// Stops the thread and waits for its end without blocking a thread.
    func cease() async {
        progress.isStopped.store(true, ordering: .releasing)
        await progress.finished()
        // The thread has nothing left to do, so this does not wait long.
        join()
    }

    private func join() {
        isJoined.withLock { isJoined in
            if !isJoined { thread.join() }
            isJoined = true
        }
    }

    private enum Outcome {
        case goesOn
        /// `nil` if that was asked for.
        case ended(CaptureError?)
    }

    /// Reads one reader's buffers. Thread-bound.
    private struct Pass {
        let reader: FrameBufferReader
        let handling: any BufferHandling
        let record: BufferRecord
        /// How many of the reader's missed buffers, and of its moves, were looked at.
        var seen: UInt64 = 0
        var moves = 0

        /// Waits once and handles the outcome.
        mutating func step() -> Outcome {
            do throws(CaptureError) {
                switch try reader.next(timeout: patience, newest: handling.takesNewest) {
                case .buffer(let buffer):
                    lose(handling.wanted(reader.missed &- seen, before: buffer.info.timestamp))
                    if reader.moveCount != moves { handling.move() }
                    moves = reader.moveCount
                    if try handling.take(buffer, of: reader.format), !reader.confirm(buffer) { lose(1) }
                    return .goesOn
                case .timedOut:
                    lose(handling.wanted(reader.missed &- seen, before: .now))
                    return .goesOn
                case .ended(let end):
                    lose(handling.wanted(reader.missed &- seen, before: .now))
                    return .ended(end.error)
                }
            } catch {
                return .ended(error)
            }
        }

        private mutating func lose(_ count: UInt64) {
            seen = reader.missed
            guard count > 0 else { return }
            record.missed(count)
            handling.lose(count, .late)
        }
    }
}

extension StreamEnd {
    /// Why a stream ended without being asked to.
    fileprivate var error: CaptureError? {
        switch self {
        case .stopped, .moved: nil
        case .revoked: CaptureError(.revoked, "the consent was withdrawn")
        case .deviceLost: CaptureError(.deviceLost, "the device went away")
        }
    }
}

/// What is known about an output's reading, over all its sessions. Thread-safe.
final class BufferRecord: Sendable {
    private let state = Mutex((missed: UInt64(0), end: CaptureError?.none))

    /// Buffers that the handler was too slow for.
    var missed: UInt64 { state.withLock { $0.missed } }

    /// Why reading ended.
    var end: CaptureError? { state.withLock { $0.end } }

    /// Notes that another reader begins.
    func began() { state.withLock { $0.end = nil } }

    /// Counts buffers that the handler was too slow for.
    func missed(_ count: UInt64) { state.withLock { $0.missed &+= count } }

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

/// What a source says it lost before a buffer, in frames or sample frames, also if it said so in buffers that were
/// missed. Thread-bound.
struct SourceLosses {
    /// The number of the last buffer in its ring, and where the next one should begin.
    private var last: (number: UInt64, end: UInt64)?

    /// Counts what was lost before a buffer, and after the one that was asked about before it.
    ///
    /// - Parameters:
    ///   - start: Where it begins: the device's count of frames, or sample frames.
    ///   - length: How many it has.
    ///   - missed: How many each missed buffer has at most.
    mutating func before(_ buffer: RingBuffer, at start: UInt64, length: UInt64, missed each: UInt64) -> UInt64 {
        defer { last = (buffer.sequence, start &+ length) }
        let told = UInt64(buffer.info.lostBefore)
        // Of a buffer that follows on, the source knows best.
        guard let last, buffer.sequence > last.number, buffer.sequence - last.number > 1, start > last.end else {
            return told
        }
        let (missed, isBeyond) = (buffer.sequence - last.number - 1).multipliedReportingOverflow(by: each)
        let gap = start - last.end
        return isBeyond || gap < missed ? told : max(told, gap - missed)
    }
}
