import CaptureCore
import CaptureRing
import CaptureSystem
import Glibc
import Synchronization
import Testing

@Suite struct `The memory of a ring` {
    @Test(.timeLimit(.minutes(10)))
    func `is that of a few slots while the only reader keeps up`() throws {
        let ring = try MemoryRing()
        let reader = try SleepingReader(ring.writer.handOut())
        try ring.put(60, to: reader)
        #expect(ring.used.count < 8)
        try reader.stop()
    }

    @Test(.timeLimit(.minutes(10)))
    func `keeps all that a reader has not read when it falls behind`() throws {
        let ring = try MemoryRing()
        let reader = try SleepingReader(ring.writer.handOut())
        try ring.put(60, to: reader)
        try reader.stop()
        for _ in 0..<MemoryRing.unread { try ring.put() }
        let late = try (0..<MemoryRing.unread).map { _ in try reader.reader.take()?.sequence }
        #expect(late == (60..<60 + UInt64(MemoryRing.unread)).map { $0 })
        #expect(reader.reader.missed == 0)
    }

    @Test(.timeLimit(.minutes(10)))
    func `has no reader skip what nothing overwrites, however slow it is`() throws {
        let ring = try MemoryRing()
        let reader = try SleepingReader(ring.writer.handOut())
        try ring.put(60, to: reader)
        try reader.stop()
        try ring.put()
        for number in 60..<69 as Range<UInt64> {
            #expect(try reader.reader.take()?.sequence == number)
            if number < 62 { for _ in 0..<4 { try ring.put() } }
        }
        #expect(reader.reader.missed == 0)
    }

    @Test(.timeLimit(.minutes(10)))
    func `is that of all slots with two readers, because one may be late`() throws {
        let ring = try MemoryRing()
        let late = try RingReader(mapping: ring.writer.handOut())
        let reader = try SleepingReader(ring.writer.handOut())
        try ring.put(MemoryRing.unread, to: reader)
        let read = try (0..<MemoryRing.unread).map { _ in try late.take()?.sequence }
        #expect(read == (0..<UInt64(MemoryRing.unread)).map { $0 })
        try ring.put(60, to: reader)
        #expect(ring.used.count == MemoryRing.slots)
        try reader.stop()
    }

    @Test(.timeLimit(.minutes(10)))
    func `is that of all slots after a move, from which readers may be late`() throws {
        let ring = try MemoryRing(isForOne: false)
        let reader = try SleepingReader(ring.writer.handOut())
        try ring.put(MemoryRing.unread, to: reader)
        let late = try RingReader(mapping: ring.writer.handOut(), fromStart: true)
        let read = try (0..<MemoryRing.unread).map { _ in try late.take()?.sequence }
        #expect(read == (0..<UInt64(MemoryRing.unread)).map { $0 })
        try reader.stop()
    }

    @Test func `is awaited buffer by buffer once a reader has it who is not patient`() throws {
        let writer = try MemoryRing().writer
        #expect(!writer.isAwaited)
        _ = writer.handOut(isPatient: true)
        #expect(!writer.isAwaited)
        _ = writer.handOut()
        #expect(writer.isAwaited)
    }

    @Test func `keeps every buffer while no reader was seen asleep`() throws {
        let ring = try MemoryRing()
        let reader = try RingReader(mapping: ring.writer.handOut())
        for _ in 0..<MemoryRing.unread {
            try ring.put()
            #expect(try reader.take() != nil)
        }
        let late = try RingReader(mapping: ring.writer.file, fromStart: true)
        #expect(try late.take()?.sequence == 0)
    }
}

/// A ring, and which of its slots were written.
private final class MemoryRing {
    static let slots = 12
    static let unread = 9
    let writer: RingWriter
    private(set) var used: Set<Int> = []
    private var published = 0

    init(isForOne: Bool = true) throws {
        writer = try RingWriter(
            format: Fixture.video,
            slots: MemoryRing.slots,
            kept: 2,
            unread: MemoryRing.unread,
            isForOne: isForOne,
            name: "test"
        )
    }

    /// Publishes buffers, each when the reader has read what was before and sleeps.
    func put(_ count: Int, to reader: SleepingReader) throws {
        for _ in 0..<count {
            try reader.waitUntilItSleeps(having: published)
            try put()
        }
        try reader.waitUntilItSleeps(having: published)
    }

    func put() throws {
        let slot = try #require(writer.claim())
        used.insert(slot)
        writer.publish(slot, Fixture.info(UInt64(published)))
        published += 1
    }
}

/// A reader that sleeps in the ring on a thread of its own. Its reader may be used when it has stopped.
private final class SleepingReader: @unchecked Sendable {
    let reader: RingReader
    private let count = Atomic(0)
    private let isStopped = Atomic(false)
    private let path = Mutex("")
    private let thread = Mutex<WorkerThread?>(nil)

    init(_ file: Descriptor) throws {
        reader = try RingReader(mapping: file)
        let started = try WorkerThread(name: "sleeper") { [unowned self] in
            var target = [CChar](repeating: 0, count: 64)
            let length = unsafe readlink("/proc/thread-self", &target, 63)
            let name = String(decoding: target.prefix(max(length, 0)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
            path.withLock { $0 = "/proc/\(name)/stat" }
            while !isStopped.load(ordering: .acquiring) {
                if case .buffer? = try? reader.next(timeout: 50_000_000) { count.add(1, ordering: .releasing) }
            }
        }
        thread.withLock { $0 = started }
    }

    func waitUntilItSleeps(having number: Int) throws {
        while count.load(ordering: .acquiring) != number || !isAsleep { sched_yield() }
    }

    func stop() throws {
        isStopped.store(true, ordering: .releasing)
        let running = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        running?.join()
    }

    private var isAsleep: Bool {
        let path = path.withLock { $0 }
        guard let file = try? Descriptor.open(path, O_RDONLY) else { return false }
        var text = [UInt8](repeating: 0, count: 256)
        let length = unsafe read(file.descriptor, &text, text.count)
        // Its state stands behind its name in parentheses.
        guard let end = text.prefix(max(length, 0)).lastIndex(of: UInt8(ascii: ")")) else { return false }
        return text[end + 2] == UInt8(ascii: "S")
    }
}
