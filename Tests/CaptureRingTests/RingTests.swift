import CaptureCore
import CaptureRing
import CaptureSystem
import Glibc
import Testing

@Suite struct `A ring` {
    @Test(arguments: [Fixture.video, Fixture.audio])
    func `tells a reader its format`(format: MediaFormat) throws {
        let writer = try RingWriter(format: format, slots: 4, kept: 2, name: "test")
        let reader = try RingReader(mapping: writer.file)
        #expect(reader.format == format)
        #expect(reader.layout == writer.layout)
        #expect(writer.slotCapacity % 4096 == 0)
        #expect(writer.slotCapacity >= format.slotSize)
    }

    @Test func `delivers what was published, in order and whole`() throws {
        let writer = try RingWriter(format: Fixture.video, slots: 8, kept: 4, name: "test")
        let reader = try RingReader(mapping: writer.file)
        for number in 0..<5 as Range<UInt64> { writer.put(number) }
        for number in 0..<5 as Range<UInt64> {
            let buffer = try #require(try reader.take())
            #expect(buffer.sequence == number)
            #expect(buffer.info == Fixture.info(number))
            #expect(buffer.missedBefore == 0)
            #expect(unsafe buffer.plane(0).count == 2048)
            #expect(unsafe buffer.plane(1).count == 1024)
            #expect(unsafe buffer.plane(2).isEmpty)
            #expect(unsafe buffer.bytes.count == 4096 + 1024)
            #expect(unsafe buffer.plane(1).allSatisfy { $0 == UInt8(number) })
            #expect(reader.confirm(buffer))
        }
        #expect(try reader.take() == nil)
        #expect(reader.missed == 0)
    }

    @Test func `gives a new reader nothing older than its start`() throws {
        let writer = try RingWriter(format: Fixture.audio, slots: 8, kept: 4, name: "test")
        for number in 0..<3 as Range<UInt64> { writer.put(number) }
        let late = try RingReader(mapping: writer.file)
        let fromStart = try RingReader(mapping: writer.file, fromStart: true)
        #expect(try late.take() == nil)
        #expect(try fromStart.take()?.sequence == 0)
        writer.put(3)
        #expect(try late.take()?.sequence == 3)
        #expect(late.missed == 0)
    }

    @Test func `tells a reader that comes too late for the start what it missed`() throws {
        let writer = try RingWriter(format: Fixture.audio, slots: 8, kept: 4, name: "test")
        for number in 0..<20 as Range<UInt64> { writer.put(number) }
        let reader = try RingReader(mapping: writer.file, fromStart: true)
        let buffer = try #require(try reader.take())
        #expect((buffer.sequence, buffer.missedBefore, reader.missed) == (12, 12, 12))
        var read = 1
        while try reader.take() != nil { read += 1 }
        #expect(UInt64(read) + reader.missed == 20)
    }

    @Test func `a reader that begins now has missed nothing`() throws {
        let writer = try RingWriter(format: Fixture.audio, slots: 4, kept: 2, name: "test")
        let reader = try RingReader(mapping: writer.file)
        for number in 0..<9 as Range<UInt64> { writer.put(number) }
        reader.beginNow()
        #expect(try reader.take() == nil)
        writer.put(9)
        let buffer = try #require(try reader.take())
        #expect(buffer.sequence == 9)
        #expect(buffer.missedBefore == 0)
        #expect(reader.missed == 0)
    }

    @Test func `never claims the slots it promised to keep`() throws {
        let writer = try RingWriter(format: Fixture.audio, slots: 5, kept: 3, name: "test")
        for number in 0..<20 as Range<UInt64> { writer.put(number) }
        let reader = try RingReader(mapping: writer.file, fromStart: true)
        let first = try #require(writer.claim())
        let second = try #require(writer.claim())
        #expect(writer.claim() == nil)
        #expect(try (0..<3).map { _ in try reader.take()?.sequence } == [17, 18, 19])
        #expect(reader.missed == 17)
        writer.abandon(second)
        #expect(writer.claim() == second)
        writer.publish(first, Fixture.info(20))
        #expect(try reader.take()?.sequence == 20)
    }

    @Test func `notices a buffer that is claimed while it is read`() throws {
        let writer = try RingWriter(format: Fixture.audio, slots: 2, kept: 1, name: "test")
        let reader = try RingReader(mapping: writer.file)
        writer.put(0)
        let buffer = try #require(try reader.take())
        #expect(buffer.isIntact)
        writer.put(1)
        #expect(buffer.isIntact)
        let claimed = try #require(writer.claim())
        #expect(!buffer.isIntact)
        writer.publish(claimed, Fixture.info(2))
        #expect(!reader.confirm(buffer))
        #expect(reader.missed == 1)
        #expect(try reader.take()?.missedBefore == 1)
    }

    @Test func `tells an overtaken reader how many it missed`() throws {
        let writer = try RingWriter(format: Fixture.audio, slots: 8, kept: 4, name: "test")
        let reader = try RingReader(mapping: writer.file)
        for number in 0..<100 as Range<UInt64> { writer.put(number) }
        let buffer = try #require(try reader.take())
        #expect(buffer.sequence >= 92)
        #expect(buffer.missedBefore == buffer.sequence)
        #expect(reader.missed == buffer.sequence)
        var read = 1
        while try reader.take() != nil { read += 1 }
        #expect(UInt64(read) + reader.missed == 100)
    }

    @Test(arguments: 1...6 as ClosedRange<UInt64>)
    func `gives a slow reader what is still whole when it has used it`(pace: UInt64) throws {
        let writer = try RingWriter(format: Fixture.audio, slots: 8, kept: 4, name: "test")
        let reader = try RingReader(mapping: writer.file)
        var (number, given, whole) = (UInt64(0), 0, 0)
        func put() {
            writer.put(number)
            number += 1
        }
        while given < 100 {
            put()
            guard let buffer = try reader.take() else { continue }
            for _ in 0..<pace { put() }
            given += 1
            whole += reader.confirm(buffer) ? 1 : 0
        }
        // How slow it is has to be seen first.
        #expect(whole >= given - 2)
        #expect(UInt64(whole) + reader.missed + reader.pending == number)
    }

    @Test func `lets a quick reader that was held up once have everything that is still there`() throws {
        let writer = try RingWriter(format: Fixture.audio, slots: 8, kept: 4, name: "test")
        let reader = try RingReader(mapping: writer.file)
        writer.put(0)
        let buffer = try #require(try reader.take())
        for number in 1..<8 as Range<UInt64> { writer.put(number) }
        #expect(reader.confirm(buffer))
        for number in 1..<8 as Range<UInt64> { #expect(try reader.take()?.sequence == number) }
        #expect(reader.missed == 0)
    }

    @Test func `passes over everything but the newest on request`() throws {
        let writer = try RingWriter(format: Fixture.audio, slots: 8, kept: 4, name: "test")
        let reader = try RingReader(mapping: writer.file)
        for number in 0..<6 as Range<UInt64> { writer.put(number) }
        let buffer = try #require(try reader.take(newest: true))
        #expect(buffer.sequence == 5)
        #expect(buffer.missedBefore == 5)
        #expect(try reader.take(newest: true) == nil)
    }

    @Test(arguments: [StreamEnd.stopped, .deviceLost, .moved, .revoked])
    func `says its end after everything that was published`(reason: StreamEnd) throws {
        let writer = try RingWriter(format: Fixture.audio, slots: 4, kept: 2, name: "test")
        let reader = try RingReader(mapping: writer.file)
        writer.put(0)
        writer.finish(reason)
        writer.finish(reason == .stopped ? .revoked : .stopped)
        #expect(try reader.take()?.sequence == 0)
        #expect(try reader.end() == reason)
    }

    @Test func `is never written again after its end`() throws {
        let writer = try RingWriter(format: Fixture.audio, slots: 4, kept: 2, name: "test")
        let reader = try RingReader(mapping: writer.file)
        let late = try #require(writer.claim())
        writer.finish(.revoked)
        writer.publish(late, Fixture.info(0))
        #expect(writer.claim() == nil)
        #expect(writer.statistics.published == 0)
        #expect(try reader.end() == .revoked)
    }

    @Test func `counts losses by cause, seen from both sides`() throws {
        let writer = try RingWriter(format: Fixture.video, slots: 4, kept: 2, name: "test")
        let reader = try RingReader(mapping: writer.file)
        for (index, cause) in DropCause.allCases.enumerated() { writer.count(cause, UInt64(index) + 1) }
        writer.put(7)
        for statistics in [writer.statistics, reader.statistics] {
            #expect(statistics.drops == [1, 2, 3, 4, 5, 6, 7])
            #expect(statistics.drops(.noSlot) == 3)
            #expect(statistics.published == 1)
            #expect(statistics.queueDepth == 1)
            #expect(statistics.lastTimestamp == Timestamp(nanoseconds: 7_000_000))
            #expect(statistics.latency > 0)
        }
    }

    @Test func `refuses numbers that make no ring`() {
        #expect(throws: CaptureError.self) { try RingWriter(format: Fixture.video, slots: 1, kept: 1, name: "test") }
        #expect(throws: CaptureError.self) { try RingWriter(format: Fixture.video, slots: 4, kept: 4, name: "test") }
        #expect(throws: CaptureError.self) { try RingWriter(format: Fixture.video, slots: 4, kept: 0, name: "test") }
        let none = MediaFormat.audio(AudioFormat(sampleFormat: .s16, sampleRate: 48000, channels: 0, periodFrames: 1))
        #expect(throws: CaptureError.self) { try RingWriter(format: none, slots: 4, kept: 1, name: "test") }
    }
}
