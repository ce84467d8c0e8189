import CLinux
public import CaptureCore
public import CaptureSystem
import Glibc
import Synchronization

/// The one writer of a ring.
///
/// `claim`, `abandon` and `publish` are thread-bound to the source's thread: they allocate nothing, take no lock and
/// make no system call but the one futex wake in `publish`. `file`, `handOut`, `statistics`, `count` and `finish` are
/// thread-safe.
///
/// **Why a torn read is noticed.** `claim` makes the slot's generation odd, then a full fence, and only then is a byte
/// of the slot written, by memcpy or by the driver that is handed it. A reader that saw any such byte therefore sees
/// the odd generation (or a later one) when it looks again behind its acquire fence. `publish` stores the descriptor
/// before the even generation (release), and that before the published count (release): whoever finds the count finds
/// the whole buffer. Words of descriptors and header are only accessed atomically; slot bytes are not, which is a race
/// on purpose: a reader throws away what it read when the generation changed.
///
/// **Memory.** A slot takes memory once it is first written. While a single reader keeps up, the writer reuses the slots
/// it has read and leaves the others untouched. The further the reader lags, the more slots are used. A reader that sleeps
/// when a buffer is published has read all earlier ones, and the futex wake says how many slept. It does not say which,
/// so with two or more readers the writer uses every slot.
public final class RingWriter: MediaSink, @unchecked Sendable {
    /// The sealed memfd to hand out.
    public let file: Descriptor
    /// What the slots hold.
    public let format: MediaFormat
    /// Where everything lies.
    public let layout: RingLayout
    private let memory: RingMemory

    // Of the source's thread alone.
    /// Those that were abandoned.
    private var free: [Int32]
    private var freeCount = 0
    /// The first of the slots that were never claimed.
    private var fresh = 0
    private var isClaimed: [Bool]
    private var oldest: UInt64 = 0
    private var published: UInt64 = 0
    /// How many buffers a reader had certainly read: those before the last publication that woke one.
    private var read: UInt64 = 0
    /// How many of the newest stay while they may be unread.
    private let unread: UInt64

    /// How often the ring was handed out.
    private let readers = Atomic(0)
    /// How often to a reader who may want each buffer at once.
    private let eagerReaders = Atomic(0)
    /// Whether the first reader may be the only one.
    private let isForOne: Bool

    /// Makes a ring.
    ///
    /// - Parameters:
    ///   - format: What the slots hold; decides their size.
    ///   - slots: 2 to 4096.
    ///   - kept: How many of the newest published slots stay readable always: `claim` never takes them.
    ///   - unread: How many of the newest stay while a reader may not have read them; no less than `kept`.
    ///   - isForOne: Whether the first reader may be the only one; else what it has read is kept for those who are late.
    ///   - name: Shown in `/proc/PID/maps`.
    /// - Throws: `invalidArgument` for numbers out of range, `inputOutput` when the system has no memory to give.
    public init(
        format: MediaFormat,
        slots: Int,
        kept: Int,
        unread: Int = 0,
        isForOne: Bool = true,
        name: String
    ) throws(CaptureError) {
        guard unread < slots else {
            throw CaptureError(.invalidArgument, "a ring of \(slots) slots cannot keep \(unread) that are unread")
        }
        layout = try RingLayout(format: format, slots: slots, kept: kept)
        do throws(SystemError) {
            memory = RingMemory(try SharedMemory(creating: name, size: layout.fileSize))
        } catch {
            throw CaptureError(
                .inputOutput,
                "there is no shared memory for \(slots) slots of \(layout.slotStride) bytes: \(error); choose a smaller size "
                    + "with --preset or --video-format",
                errno: error.errno
            )
        }
        file = memory.shared.file
        self.format = format
        self.unread = UInt64(max(unread, kept))
        self.isForOne = isForOne
        free = Array(repeating: 0, count: slots)
        isClaimed = Array(repeating: false, count: slots)
        for slot in 0..<slots {
            // Never published is "being written".
            memory.storeRelaxed64(layout.descriptor(of: slot) + RingLayout.Slot.generation, 1)
        }
        layout.write(to: memory, format: format)
    }

    /// How many slots there are.
    public var slotCount: Int { layout.slotCount }

    /// Bytes of one slot, whole pages.
    public var slotCapacity: Int { layout.slotStride }

    /// The memory of a slot, to be written only while it is claimed.
    public func memory(ofSlot slot: Int) -> UnsafeMutableRawBufferPointer {
        precondition(slot >= 0 && slot < layout.slotCount, "a ring has no slot \(slot)")
        return unsafe UnsafeMutableRawBufferPointer(start: memory.address(layout.data(of: slot)), count: slotCapacity)
    }

    /// Has the system give slots their memory, so that who fills them first does not wait for it. Thread-safe.
    ///
    /// - Parameter count: How many, of those that are claimed first.
    public func makeReady(_ count: Int) {
        for slot in 0..<min(count, layout.slotCount) {
            let room = unsafe memory(ofSlot: slot)
            // What there is no memory for now gets it when it is written.
            unsafe _ = clinux_populate(room.baseAddress, room.count)
        }
    }

    /// Takes a slot out of the readers' reach: an abandoned one, else the oldest that the only reader has read, else one
    /// never used, else the oldest.
    ///
    /// - Returns: `nil` if every remaining slot is kept or may be unread, or after the end.
    public func claim() -> Int? {
        guard memory.loadRelaxed32(RingLayout.Live.end) == 0 else { return nil }
        let slot: Int
        if freeCount > 0 {
            freeCount -= 1
            slot = Int(free[freeCount])
        } else if oldest < read, published - oldest > UInt64(layout.kept), isForOne,
            readers.load(ordering: .relaxed) == 1
        {
            slot = takeOldest()
        } else if fresh < layout.slotCount {
            slot = fresh
            fresh += 1
        } else if published - oldest > unread {
            slot = takeOldest()
        } else {
            return nil
        }
        // Full, not just release: a device that writes by itself is not bound by an ordering between processors.
        clinux_fence_full()
        isClaimed[slot] = true
        return slot
    }

    private func takeOldest() -> Int {
        let slot = Int(memory.loadRelaxed32(layout.order(of: oldest)))
        oldest += 1
        memory.storeRelease64(RingLayout.Live.oldest, oldest)
        let generation = layout.descriptor(of: slot) + RingLayout.Slot.generation
        memory.storeRelaxed64(generation, memory.loadRelaxed64(generation) | 1)
        return slot
    }

    /// Hands the ring to one more reader.
    ///
    /// - Parameter isPatient: Whether the reader may as well get several buffers at a time.
    public func handOut(isPatient: Bool = false) -> Descriptor {
        readers.add(1, ordering: .relaxed)
        if !isPatient { eagerReaders.add(1, ordering: .relaxed) }
        return file
    }

    /// Whether it was handed to a reader who may want each buffer at once.
    public var isAwaited: Bool { eagerReaders.load(ordering: .relaxed) > 0 }

    /// Gives a claimed slot back unpublished; it is the next one that is claimed.
    public func abandon(_ slot: Int) {
        precondition(isClaimed[slot], "slot \(slot) is abandoned without having been claimed")
        isClaimed[slot] = false
        free[freeCount] = Int32(slot)
        freeCount += 1
    }

    /// Publishes a claimed slot and wakes every reader with one system call; after the end it is only given back.
    public func publish(_ slot: Int, _ info: BufferInfo) {
        precondition(isClaimed[slot], "slot \(slot) is published without having been claimed")
        // A ring that ended is never published into again, whatever was still on its way.
        guard memory.loadRelaxed32(RingLayout.Live.end) == 0 else { return abandon(slot) }
        typealias Slot = RingLayout.Slot
        typealias Live = RingLayout.Live
        let now = UInt64(bitPattern: Timestamp.now.nanoseconds)
        let timestamp = UInt64(bitPattern: info.timestamp.nanoseconds)
        let descriptor = layout.descriptor(of: slot)
        memory.storeRelaxed64(descriptor + Slot.sequence, published)
        memory.storeRelaxed64(descriptor + Slot.timestamp, timestamp)
        memory.storeRelaxed64(descriptor + Slot.deviceSequence, info.deviceSequence)
        memory.storeRelaxed64(descriptor + Slot.position, info.position)
        memory.storeRelaxed32(descriptor + Slot.bytesUsed, UInt32(clamping: info.bytesUsed.0))
        memory.storeRelaxed32(descriptor + Slot.bytesUsed + 4, UInt32(clamping: info.bytesUsed.1))
        memory.storeRelaxed32(descriptor + Slot.bytesUsed + 8, UInt32(clamping: info.bytesUsed.2))
        memory.storeRelaxed32(descriptor + Slot.bytesUsed + 12, UInt32(clamping: info.bytesUsed.3))
        memory.storeRelaxed32(descriptor + Slot.flags, info.flags.rawValue)
        memory.storeRelaxed32(descriptor + Slot.lostBefore, info.lostBefore)
        memory.storeRelaxed64(descriptor + Slot.publishedAt, now)
        let generation = memory.loadRelaxed64(descriptor + Slot.generation)
        memory.storeRelease64(descriptor + Slot.generation, generation &+ 1)
        memory.storeRelaxed32(layout.order(of: published), UInt32(slot))
        memory.storeRelaxed64(Live.lastTimestamp, timestamp)
        memory.storeRelaxed64(Live.lastPublished, now)
        isClaimed[slot] = false
        published += 1
        memory.storeRelease64(Live.published, published)
        if wake() > 0 { read = published - 1 }
    }

    /// Counts losses.
    public func count(_ cause: DropCause, _ number: UInt64) {
        memory.add64(RingLayout.Live.drops + cause.rawValue * 8, number)
    }

    /// Says that nothing more will come, and wakes every reader; the first reason stays.
    public func finish(_ reason: StreamEnd) {
        if memory.replaceZero32(RingLayout.Live.end, reason.rawValue) { _ = wake() }
    }

    /// What `finish` was called with first; `nil` while more may come.
    public var end: StreamEnd? { StreamEnd(rawValue: memory.loadAcquire32(RingLayout.Live.end)) }

    /// The counters now.
    public var statistics: RingStatistics { RingStatistics(reading: memory) }

    /// - Returns: How many readers slept.
    private func wake() -> Int32 {
        memory.add32(RingLayout.Live.futexWord, 1)
        return unsafe clinux_futex_wake_all(memory.address(RingLayout.Live.futexWord))
    }
}
