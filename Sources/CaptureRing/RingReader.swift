import CLinux
public import CaptureCore
public import CaptureSystem
import Glibc

/// One reader of a ring, through a read-only mapping: it cannot disturb the writer or another reader.
///
/// Thread-bound: one reader a thread. Nothing in the ring is believed: the header is checked once and its numbers are
/// kept; slots and lengths are checked at each use, so that a damaged ring gives an error and never a bad access.
public final class RingReader {
    /// What came of waiting.
    public enum Event: Sendable {
        /// The next buffer.
        case buffer(RingBuffer)
        /// Nothing in time.
        case timedOut
        /// Everything that was published has been read, and nothing more will come.
        case ended(StreamEnd)
    }

    /// What the buffers hold.
    public let format: MediaFormat
    /// Where everything lies.
    public let layout: RingLayout
    /// Buffers that were overwritten, or passed over for a newer one, before they were read.
    public private(set) var missed: UInt64 = 0

    private let memory: RingMemory
    private let planes: RingPlanes
    /// The sequence to read next.
    private var next: UInt64
    private var missedSinceLast: UInt64 = 0
    /// The last buffer, until its use is counted: the published count when it was given, its generation and where that is.
    private var given: (published: UInt64, generation: UInt64, offset: Int)?
    /// How many buffers were published while the last one was in use.
    private var pace: UInt64 = 0
    /// The smaller pace of the last two uses: a reader that was held up once is not slow.
    private var need: UInt64 = 0
    /// How many buffers were there when one was overwritten in use: as many as stay. Before that, none was too slow.
    private var staying: UInt64?

    /// How long a reader waits before it looks by itself, in nanoseconds. Another reader of the ring can move its
    /// waiters to another futex word, where the writer does not wake them: `FUTEX_REQUEUE` needs only a read-only
    /// mapping.
    private static let longestWait: Int64 = 100_000_000

    /// Maps a ring that was handed over.
    ///
    /// - Parameters:
    ///   - file: A sealed memfd.
    ///   - fromStart: Begins with the oldest buffer that is still there, instead of the first one published from now on;
    ///     what was overwritten before that counts as missed.
    /// - Throws: `badData`, naming the field that is wrong; `notPermitted` when the memfd is not sealed.
    public init(mapping file: Descriptor, fromStart: Bool = false) throws(CaptureError) {
        do throws(SystemError) {
            memory = RingMemory(try SharedMemory(mapping: file))
        } catch {
            throw CaptureError(error.errno == EPERM ? .notPermitted : .badData, error)
        }
        layout = try RingLayout(reading: memory)
        format = try MediaFormat(reading: memory, slotStride: layout.slotStride)
        planes = RingPlanes(format)
        let published = memory.loadAcquire64(RingLayout.Live.published)
        let oldest = memory.loadAcquire64(RingLayout.Live.oldest)
        next = fromStart ? min(oldest, published) : published
        if fromStart { miss(next) }
    }

    /// Begins anew with the first buffer published from now on; what lies before it does not count as missed.
    public func beginNow() {
        next = max(next, memory.loadAcquire64(RingLayout.Live.published))
        missedSinceLast = 0
    }

    /// Waits for a buffer. Allocates nothing.
    ///
    /// Buffers come in order. A reader that was overtaken goes on a quarter into what is still there, so that what it
    /// is given next is not the very slot that is written next. Once a buffer was overwritten in use, a reader that
    /// stays slow skips ahead to one that stays for as long as it takes. Otherwise each would be overwritten in use.
    ///
    /// - Parameters:
    ///   - nanoseconds: How long to wait; 0 only looks, less than 0 waits without limit.
    ///   - newest: Passes over everything but the newest buffer.
    /// - Returns: A buffer, the end, or that nothing came in time.
    /// - Throws: `badData` when the ring is damaged, `internalFault` when the system refuses to wait.
    public func next(timeout nanoseconds: Int64, newest: Bool = false) throws(CaptureError) -> Event {
        let start = nanoseconds > 0 ? Timestamp.now : Timestamp(nanoseconds: 0)
        while true {
            // The word first: what happens after this load makes the wait below return at once.
            let word = memory.loadAcquire32(RingLayout.Live.futexWord)
            // The end before the count: once an end is seen, every publication before it is seen too.
            let end = memory.loadAcquire32(RingLayout.Live.end)
            if let buffer = try take(newest: newest) { return .buffer(buffer) }
            if end != 0 {
                guard let reason = StreamEnd(rawValue: end) else { throw RingLayout.bad("end", end) }
                return .ended(reason)
            }
            var rest = nanoseconds
            if nanoseconds > 0 { rest = max(0, nanoseconds - (Timestamp.now - start)) }
            if rest == 0 { return .timedOut }
            let wait = rest < 0 ? RingReader.longestWait : min(rest, RingReader.longestWait)
            let result = unsafe clinux_futex_wait(memory.address(RingLayout.Live.futexWord), word, wait)
            // A changed word, a signal and the end of the time all lead to another look.
            if result == -1, errno != EAGAIN, errno != EINTR, errno != ETIMEDOUT {
                throw CaptureError(.internalFault, SystemError("wait for a ring", errno: errno))
            }
        }
    }

    /// Says whether a buffer was whole while it was used, and counts it as missed if not.
    public func confirm(_ buffer: RingBuffer) -> Bool {
        if buffer.isIntact { return true }
        miss(1)
        return false
    }

    /// The ring's counters, the writer's losses by cause among them.
    public var statistics: RingStatistics { RingStatistics(reading: memory) }

    /// Buffers that are published and not yet read.
    public var pending: UInt64 {
        let published = memory.loadAcquire64(RingLayout.Live.published)
        return published > next ? published - next : 0
    }

    /// The next buffer that is there and whole, if any.
    private func take(newest: Bool) throws(CaptureError) -> RingBuffer? {
        // With an honest writer, the second look finds a buffer unless the writer overtook it. If slots never match the
        // ring's count, the caller's timeout ends the search.
        for _ in 0...layout.slotCount + 1 {
            let published = memory.loadAcquire64(RingLayout.Live.published)
            guard published >= next else { throw RingLayout.bad("published count", published) }
            countUse(published)
            if published == next { return nil }
            if newest, published - next > 1 { skip(to: published - 1) }
            if need > 0, let staying {
                let room = max(staying - min(need + 1, staying), 1)
                if published - next > room { skip(to: published - room) }
            }
            if let buffer = try look(at: next) {
                next += 1
                given = (published, buffer.generation, buffer.generationOffset)
                missedSinceLast = 0
                return buffer
            }
            // Overtaken. No more than all slots can still be there, whatever the ring says is its oldest.
            let count = memory.loadAcquire64(RingLayout.Live.published)
            guard count > next else { throw RingLayout.bad("published count", count) }
            let present = present(of: count)
            skip(to: max(next + 1, count - present + present / 4))
        }
        return nil
    }

    /// Counts what was published while the last buffer was in use, once.
    private func countUse(_ published: UInt64) {
        guard let last = given else { return }
        // The ring may say any number.
        let used = min(published &- last.published, UInt64(layout.slotCount))
        (need, pace, given) = (min(used, pace), used, nil)
        // While the writer has unused slots it overwrites nothing unread, however few buffers are there.
        if memory.loadRelaxed64(last.offset) != last.generation { staying = present(of: published) }
    }

    /// How many published buffers are still there, at most one for each slot.
    private func present(of published: UInt64) -> UInt64 {
        let oldest = memory.loadAcquire64(RingLayout.Live.oldest)
        return min(published - min(oldest, published), UInt64(layout.slotCount))
    }

    /// The buffer of a sequence, or `nil` when its slot is being written again.
    private func look(at sequence: UInt64) throws(CaptureError) -> RingBuffer? {
        typealias Slot = RingLayout.Slot
        let slot = Int(memory.loadRelaxed32(layout.order(of: sequence)))
        guard slot < layout.slotCount else { throw RingLayout.bad("order table", slot) }
        let descriptor = layout.descriptor(of: slot)
        let generation = memory.loadAcquire64(descriptor + Slot.generation)
        guard generation & 1 == 0, memory.loadRelaxed64(descriptor + Slot.sequence) == sequence else { return nil }
        let info = BufferInfo(
            timestamp: Timestamp(nanoseconds: Int64(bitPattern: memory.loadRelaxed64(descriptor + Slot.timestamp))),
            deviceSequence: memory.loadRelaxed64(descriptor + Slot.deviceSequence),
            position: memory.loadRelaxed64(descriptor + Slot.position),
            bytesUsed: (
                Int(memory.loadRelaxed32(descriptor + Slot.bytesUsed)),
                Int(memory.loadRelaxed32(descriptor + Slot.bytesUsed + 4)),
                Int(memory.loadRelaxed32(descriptor + Slot.bytesUsed + 8)),
                Int(memory.loadRelaxed32(descriptor + Slot.bytesUsed + 12))
            ),
            flags: BufferFlags(rawValue: memory.loadRelaxed32(descriptor + Slot.flags)),
            lostBefore: memory.loadRelaxed32(descriptor + Slot.lostBefore)
        )
        let published = Int64(bitPattern: memory.loadRelaxed64(descriptor + Slot.publishedAt))
        let buffer = RingBuffer(
            sequence: sequence,
            info: info,
            missedBefore: missedSinceLast,
            published: Timestamp(nanoseconds: published),
            memory: memory,
            generation: generation,
            generationOffset: descriptor + Slot.generation,
            dataOffset: layout.data(of: slot),
            planes: planes
        )
        // The descriptor itself may have been torn.
        return buffer.isIntact ? buffer : nil
    }

    private func skip(to sequence: UInt64) {
        miss(sequence - next)
        next = sequence
    }

    private func miss(_ count: UInt64) {
        missed &+= count
        missedSinceLast &+= count
    }
}
