import CaptureCore
import CaptureRing
import CaptureSystem
import Synchronization

/// What the writer's thread hears from the readers.
enum PipelineEvent: Sendable {
    case buffer(MediaType, MediaBuffer)
    /// The stream's end, and how many buffers were lost behind the last that came.
    case ended(MediaType, lost: UInt64)
    case failed(CaptureError)
}

/// Makes of a slot's bytes what an output needs, in memory of the recorder's own. Thread-bound to one reader.
protocol BufferConverter: AnyObject {
    /// Bytes that a converted buffer takes at most.
    var capacity: Int { get }

    /// Converts a slot, which may be overwritten meanwhile.
    ///
    /// - Returns: Bytes in use, or `nil` for a buffer that is broken and must be left out.
    func convert(_ buffer: RingBuffer, into memory: UnsafeMutableRawBufferPointer) -> Int?
}

/// The reader of one ring: a thread that takes each slot, converts it, looks at its generation again, and hands it on.
///
/// When no buffer is free it waits and the ring runs on; the next buffer says how many were overwritten meanwhile.
/// Thread-safe.
final class StreamReader: Sendable {
    /// How long a ring is waited for before the reader looks whether it shall stop, in nanoseconds.
    private static let look: Int64 = 50_000_000
    /// How long the next ring is waited for after a move, in nanoseconds.
    private static let patience: Int64 = 10_000_000_000

    private let kind: MediaType
    private let pool: BufferPool
    private let events: BlockingQueue<PipelineEvent>
    /// From when on nothing more is taken, in nanoseconds.
    private let stopTime = Atomic(Int64.max)
    private var isStopping: Bool { stopTime.load(ordering: .acquiring) != .max }
    private let moves = BlockingQueue<Descriptor>()
    private let ring: Unguarded<RingReader>
    private let converter: Unguarded<any BufferConverter>
    /// How long all buffers may be broken, in nanoseconds.
    private let damageLimit: Int64
    private let thread = Mutex<WorkerThread?>(nil)

    /// A reader of `ring`, not yet started.
    ///
    /// - Parameters:
    ///   - buffers: How many may wait for the writer.
    ///   - wanted: How many are wanted in all: memory for no more than that is made ready.
    ///   - damageLimit: How long all buffers may be broken, in nanoseconds.
    init(
        _ kind: MediaType,
        ring: RingReader,
        converter: any BufferConverter,
        buffers: Int,
        wanted: Int = .max,
        damageLimit: Int64 = .max,
        events: BlockingQueue<PipelineEvent>
    ) throws(CaptureError) {
        self.kind = kind
        self.damageLimit = damageLimit
        self.ring = Unguarded(ring)
        self.converter = Unguarded(converter)
        self.events = events
        // A compressed frame takes a part of its buffer; raw ones and sound fill them.
        var fills = true
        if case .video(let video) = ring.format { fills = !video.pixelFormat.isCompressed }
        let ready = fills ? min(BufferPool.usual, wanted) : 0
        pool = try BufferPool(count: buffers, capacity: converter.capacity, ready: ready)
    }

    /// Starts the thread with what is published from now on: what came while encoders were tried is from before the
    /// recording.
    func start() throws(CaptureError) {
        ring.value.beginNow()
        do throws(SystemError) {
            let started = try WorkerThread(name: "read-\(kind.rawValue)") { self.run() }
            thread.withLock { $0 = started }
        } catch {
            throw CaptureError(.internalFault, error)
        }
    }

    /// Ends the stream with what was published until then, however late it is read; the first time counts.
    func stop(at time: Timestamp) {
        _ = stopTime.compareExchange(expected: .max, desired: time.nanoseconds, ordering: .acquiringAndReleasing)
    }

    /// Hands over the ring in which the stream goes on.
    func move(to file: Descriptor) { moves.put(file) }

    /// Has the thread take nothing more, and end when it is done with what it waits for.
    func leave() {
        stop(at: .now)
        pool.close()
        moves.close()
    }

    /// Waits for the end of the thread, after `leave`.
    func join() {
        thread.withLock { running in
            let last = running
            running = nil
            return last
        }?.join()
    }

    /// The ring in which the stream goes on; `nil` when none comes, or the stream is to stop.
    private func nextRing() -> Descriptor? {
        var waited: Int64 = 0
        while waited < StreamReader.patience, !isStopping {
            if let file = moves.take(within: StreamReader.look) { return file }
            waited += StreamReader.look
        }
        return moves.take(within: 0)
    }

    private func run() {
        var ring = self.ring.value
        var seenMissed: UInt64 = 0
        var left: UInt64?
        var lost: UInt64 = 0
        var damage = Damage(limit: damageLimit)
        do throws(CaptureError) {
            while let memory = pool.take() {
                var isTaken = false
                defer { if !isTaken { pool.give(memory) } }
                if left == nil, isStopping { left = ring.pending }
                if let rest = left, rest == 0 { return events.put(.ended(kind, lost: lost)) }
                let event = try ring.next(timeout: left == nil ? StreamReader.look : 0)
                switch event {
                case .timedOut:
                    if left != nil { return events.put(.ended(kind, lost: lost)) }
                case .ended(.moved):
                    guard left == nil, let file = nextRing() else {
                        return events.put(.ended(kind, lost: lost))
                    }
                    let next = try RingReader(mapping: file, fromStart: true)
                    guard next.format == ring.format else {
                        throw CaptureError(.badData, "a moved ring has another format than the one before it")
                    }
                    ring = next
                    seenMissed = 0
                case .ended:
                    return events.put(.ended(kind, lost: lost))
                case .buffer(let buffer):
                    // A consent may have been withdrawn while this thread was held up.
                    if buffer.published.nanoseconds > stopTime.load(ordering: .acquiring) {
                        return events.put(.ended(kind, lost: lost))
                    }
                    if let rest = left { left = rest - min(rest, 1 + buffer.missedBefore) }
                    let count = unsafe converter.value.convert(buffer, into: memory.bytes)
                    let isWhole = ring.confirm(buffer)
                    // A buffer that could not be converted is as lost as one that was overwritten.
                    lost += ring.missed - seenMissed + (isWhole && count == nil ? 1 : 0)
                    seenMissed = ring.missed
                    if isWhole { try damage.note(isUsable: count != nil) }
                    guard isWhole, let count else { continue }
                    isTaken = true
                    let made = MediaBuffer(memory, of: pool, count: count, info: buffer.info, lostBefore: lost)
                    lost = 0
                    events.put(.buffer(kind, made))
                }
            }
        } catch {
            events.put(.failed(error))
        }
    }
}

/// Ends a stream of which nothing can be used.
private struct Damage {
    /// In nanoseconds.
    let limit: Int64
    private var since: Timestamp?
    private var last = Timestamp(nanoseconds: 0)

    init(limit: Int64) {
        self.limit = limit
    }

    /// Takes whether a buffer was of use.
    mutating func note(isUsable: Bool) throws(CaptureError) {
        let now = Timestamp.now
        // Time in which nothing came at all is not this type's matter.
        if isUsable || now - last > limit { since = nil }
        last = now
        if isUsable { return }
        guard let since else { return since = now }
        guard now - since >= limit else { return }
        throw CaptureError(
            .inputOutput,
            "the camera delivers only damaged frames: none could be decoded for \((now - since) / 1_000_000_000) s"
        )
    }
}

/// A value that only one thread uses, though the object that holds it is shared.
struct Unguarded<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}
