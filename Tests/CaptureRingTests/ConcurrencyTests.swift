import CaptureCore
import CaptureRing
import CaptureSystem
import Glibc
import Synchronization
import Testing

@Suite(.serialized) struct `A ring between threads` {
    /// Reads until the end and checks every buffer that claims to be whole: all its bytes are its sequence's.
    private static func drain(_ reader: RingReader, newest: Bool = false) throws -> (whole: UInt64, wrong: UInt64) {
        var whole: UInt64 = 0
        var wrong: UInt64 = 0
        var copy = [UInt8](repeating: 0, count: 4096)
        while true {
            switch try reader.next(timeout: 20_000_000_000, newest: newest) {
            case .timedOut: throw CaptureError(.timedOut, "the writer stopped without saying so")
            case .ended: return (whole, wrong)
            case .buffer(let buffer):
                let bytes = unsafe buffer.plane(0)
                unsafe copy.withUnsafeMutableBytes { unsafe $0.copyMemory(from: bytes) }
                let expected = UInt8(truncatingIfNeeded: buffer.sequence)
                let isRight = Self.isFilled(copy, bytes.count, with: expected)
                if reader.confirm(buffer) {
                    whole += 1
                    if !isRight || buffer.info != Fixture.info(buffer.sequence) { wrong += 1 }
                }
            }
        }
    }

    /// Whether the first bytes are all the same; fast without optimization too.
    private static func isFilled(_ bytes: [UInt8], _ count: Int, with byte: UInt8) -> Bool {
        unsafe bytes.withUnsafeBytes { all in
            guard count > 0, unsafe all[0] == byte else { return count == 0 }
            guard let start = all.baseAddress else { return false }
            return unsafe memcmp(start, start + 1, count - 1) == 0
        }
    }

    @Test(arguments: [1, 8, 32])
    func `never passes a torn buffer off as whole, whatever the number of readers`(readers: Int) throws {
        let writer = try RingWriter(format: Fixture.video, slots: 4, kept: 2, name: "test")
        let wrong = Atomic<UInt64>(0)
        let unaccounted = Atomic<Int>(0)
        let started = Atomic<Int>(0)
        let total: UInt64 = 8000
        try runThreads(readers) { number in
            let reader = try RingReader(mapping: writer.file, fromStart: true)
            started.add(1, ordering: .releasing)
            let result = try Self.drain(reader, newest: number % 2 == 1)
            wrong.add(result.wrong, ordering: .relaxed)
            if result.whole + reader.missed != total { unaccounted.add(1, ordering: .relaxed) }
        } meanwhile: {
            while started.load(ordering: .acquiring) < readers { sched_yield() }
            for number in 0..<total { writer.put(number) }
            writer.finish(.stopped)
        }
        #expect(wrong.load(ordering: .relaxed) == 0)
        #expect(unaccounted.load(ordering: .relaxed) == 0)
        #expect(writer.statistics.published == total)
    }

    @Test func `is not changed for anyone by a reader that stands still`() throws {
        let writer = try RingWriter(format: Fixture.video, slots: 8, kept: 4, name: "test")
        let still = try RingReader(mapping: writer.file)
        let other = try RingReader(mapping: writer.file)
        writer.put(0)
        let held = try #require(try still.take())
        #expect(try other.take()?.sequence == 0)
        for number in 1..<1000 as Range<UInt64> {
            #expect(writer.put(number))
            #expect(try other.take()?.sequence == number)
        }
        #expect(other.missed == 0)
        #expect(!held.isIntact)
        #expect(try still.take() != nil)
        #expect(still.missed > 900)
    }

    @Test func `wakes a reader that waits`() throws {
        let writer = try RingWriter(format: Fixture.audio, slots: 4, kept: 2, name: "test")
        let arrived = Atomic<UInt64>(0)
        try runThreads(1) { _ in
            let reader = try RingReader(mapping: writer.file, fromStart: true)
            while case .buffer(let buffer) = try reader.next(timeout: -1) {
                arrived.store(buffer.sequence + 1, ordering: .releasing)
            }
        } meanwhile: {
            // Each publication waits until the one before was taken: a wake-up that is lost would hang this test.
            for number in 0..<2000 as Range<UInt64> {
                writer.put(number)
                while arrived.load(ordering: .acquiring) != number + 1 { sched_yield() }
            }
            writer.finish(.deviceLost)
        }
        #expect(arrived.load(ordering: .acquiring) == 2000)
    }

    @Test func `lets a reader give up in time`() throws {
        let writer = try RingWriter(format: Fixture.audio, slots: 4, kept: 2, name: "test")
        let reader = try RingReader(mapping: writer.file)
        let start = Timestamp.now
        guard case .timedOut = try reader.next(timeout: 30_000_000) else {
            Issue.record("something came of an empty ring")
            return
        }
        #expect(Timestamp.now - start >= 30_000_000)
    }

    /// Runs a body on several threads and another one here, and waits for all.
    private func runThreads(
        _ count: Int,
        _ body: @escaping @Sendable (Int) throws -> Void,
        meanwhile: () -> Void
    ) throws {
        let failures = Mutex<[any Error]>([])
        let threads = try (0..<count).map { number in
            try WorkerThread(name: "reader-\(number)") {
                do { try body(number) } catch { failures.withLock { $0.append(error) } }
            }
        }
        meanwhile()
        for thread in threads { thread.join() }
        #expect(failures.withLock { $0.map { "\($0)" } } == [])
    }
}
