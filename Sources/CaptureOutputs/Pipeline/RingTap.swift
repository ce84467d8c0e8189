import CaptureCore
import CaptureRing
import CaptureSystem
import MediaConversion
import Synchronization

/// What other threads say to whoever reads a ring. Thread-safe.
final class RingOrders: Sendable {
    private let time = Atomic(Int64.max)
    private let alarm = BlockingQueue<Bool>()
    /// Rings in which the stream goes on.
    let moves = BlockingQueue<Descriptor>()

    /// From when on nothing more is taken, in nanoseconds.
    var stopTime: Int64 { time.load(ordering: .acquiring) }

    /// The first time counts.
    func stop(at moment: Timestamp) {
        let (isFirst, _) = time.compareExchange(
            expected: .max,
            desired: moment.nanoseconds,
            ordering: .acquiringAndReleasing
        )
        if isFirst { alarm.put(true) }
    }

    /// Sleeps until there is an order to stop.
    func sleep(_ nanoseconds: Int64) { _ = alarm.take(within: nanoseconds) }

    /// Lets nobody wait for an order any more.
    func close() {
        moves.close()
        alarm.close()
    }
}

/// Takes what a ring brings, buffer by buffer: converts each slot and looks at its generation again.
///
/// When no buffer is free it waits and the ring runs on; the next buffer says how many were overwritten meanwhile.
/// Thread-bound, to one thread after the other.
final class RingTap {
    /// How long a ring is waited for before the reader looks whether it shall stop, in nanoseconds.
    static let look: Int64 = 50_000_000
    /// How long the next ring is waited for after a move, in nanoseconds: a camera may take photos of another size before.
    private static let patience: Int64 = 120_000_000_000

    private let kind: MediaType
    private var ring: RingReader
    private let converter: any BufferConverter
    private let pool: BufferPool
    private let orders: RingOrders
    private let pause: Int64
    private var damage: Damage
    private var seenMissed: UInt64 = 0
    /// Buffers that were lost since the last that came.
    private var lost: UInt64 = 0

    /// - Parameters:
    ///   - pause: How long it sleeps once everything is read, in nanoseconds; 0 to be woken by the next buffer.
    ///   - damageLimit: How long all buffers may be broken, in nanoseconds.
    init(
        _ kind: MediaType,
        ring: RingReader,
        converter: any BufferConverter,
        pool: BufferPool,
        orders: RingOrders,
        pause: Int64,
        damageLimit: Int64
    ) {
        self.kind = kind
        self.ring = ring
        self.converter = converter
        self.pool = pool
        self.orders = orders
        self.pause = pause
        damage = Damage(limit: damageLimit)
    }

    /// Leaves out what is published by now.
    func beginNow() { ring.beginNow() }

    /// Buffers that are published and not yet taken.
    var pending: Int { Int(clamping: ring.pending) }

    /// Takes the next buffer, or the end, after which nothing is to be asked any more.
    ///
    /// - Returns: `nil` if nothing came for a moment, or the pool is closed.
    func next() throws(CaptureError) -> PipelineEvent? {
        guard let memory = pool.take() else { return nil }
        var isTaken = false
        defer { if !isTaken { pool.give(memory) } }
        while true {
            // Before the ring is looked at: what is there by now is still taken.
            let isStopping = orders.stopTime != .max
            switch try ring.next(timeout: isStopping || pause > 0 ? 0 : RingTap.look) {
            case .timedOut:
                if isStopping { return .ended(kind, lost: lost) }
                if pause > 0 { orders.sleep(pause) }
                return nil
            case .ended(.moved):
                guard let file = nextRing() else { return .ended(kind, lost: lost) }
                let next = try RingReader(mapping: file, fromStart: true)
                guard next.format == ring.format else {
                    throw CaptureError(.badData, "a moved ring has another format than the one before it")
                }
                ring = next
                seenMissed = 0
            case .ended:
                return .ended(kind, lost: lost)
            case .buffer(let buffer):
                // A consent may have been withdrawn while this thread was held up.
                if buffer.published.nanoseconds > orders.stopTime { return .ended(kind, lost: lost) }
                let count = unsafe converter.convert(buffer, into: memory.bytes)
                let isWhole = ring.confirm(buffer)
                // A buffer that could not be converted is as lost as one that was overwritten.
                lost += ring.missed - seenMissed + (isWhole && count == nil ? 1 : 0)
                seenMissed = ring.missed
                if isWhole { try damage.note(isUsable: count != nil) }
                guard isWhole, let count else { continue }
                isTaken = true
                defer { lost = 0 }
                return .buffer(kind, MediaBuffer(memory, of: pool, count: count, info: buffer.info, lostBefore: lost))
            }
        }
    }

    /// The ring in which the stream goes on; `nil` when none comes, or the stream is to stop.
    private func nextRing() -> Descriptor? {
        var waited: Int64 = 0
        while waited < RingTap.patience, orders.stopTime == .max {
            if let file = orders.moves.take(within: RingTap.look) { return file }
            waited += RingTap.look
        }
        return orders.moves.take(within: 0)
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
