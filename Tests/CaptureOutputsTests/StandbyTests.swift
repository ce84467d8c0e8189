import CaptureCore
import CaptureRing
import CaptureSystem
import Glibc
import Testing

@testable import CaptureOutputs

/// The writer's thread reads a ring by itself; the test is that thread.
@Suite struct `A ring that is read beside the writing` {
    private let format = Material.compressed(.mjpeg)
    private let ring: RingWriter
    private let events = BlockingQueue<PipelineEvent>()
    private let reader: StreamReader
    private let feed: PipelineFeed

    init() throws {
        ring = try RingWriter(format: .video(format), slots: 8, kept: 2, name: "test")
        reader = try StreamReader(
            .video,
            ring: try RingReader(mapping: ring.file),
            converter: CopyConverter(.video(format)),
            plan: ReadingPlan(buffers: 64),
            events: events
        )
        feed = try PipelineFeed(events, reading: reader)
    }

    private func publish(_ numbers: Range<UInt64>) throws {
        for number in numbers {
            let slot = try #require(ring.claim())
            let info = BufferInfo(
                timestamp: .now,
                deviceSequence: number,
                bytesUsed: (100, 0, 0, 0),
                flags: .monotonic
            )
            ring.publish(slot, info)
        }
    }

    /// The numbers of what comes until nothing does, and how many were lost.
    private func taken(_ count: Int) -> (numbers: [UInt64], lost: UInt64) {
        var (numbers, lost): ([UInt64], UInt64) = ([], 0)
        while numbers.count < count, case .buffer(_, let buffer)? = feed.next(within: 10_000_000_000) {
            numbers.append(buffer.info.deviceSequence)
            lost += buffer.lostBefore
        }
        return (numbers, lost)
    }

    private func until(_ holds: () -> Bool) throws {
        let end = Timestamp.now.advanced(by: 20_000_000_000)
        while !holds() {
            try #require(Timestamp.now < end)
            usleep(1000)
        }
    }

    private func close() {
        feed.close()
        reader.leave()
        reader.join()
    }

    @Test func `needs no other thread while writes are quick`() throws {
        defer { close() }
        var begun = Timestamp.now
        for number in 0..<UInt64(50) {
            try publish(number..<number + 1)
            #expect(feed.waiting == 1 && events.count == 0)
            #expect(taken(1).numbers == [number])
            feed.beginWriting()
            feed.endWriting()
            if feed.isDirect { continue }
            // A machine that was held up made a write as slow as a fourth of what the ring has room for.
            #expect(Timestamp.now - begun > 60_000_000)
            try until {
                _ = feed.next(within: 1_000_000)
                return feed.isDirect
            }
            begun = .now
        }
    }

    @Test func `loses nothing while a write waits for a disk, and is given back`() throws {
        defer { close() }
        for round in 0..<3 {
            let first = UInt64(round * 100)
            try publish(first..<first + 1)
            #expect(taken(1).numbers == [first])
            feed.beginWriting()
            // Many times what the ring has room for.
            for number in stride(from: first + 1, to: first + 41, by: 4) {
                try publish(number..<number + 4)
                try until { events.count == Int(number + 3 - first) }
            }
            feed.endWriting()
            let (numbers, lost) = taken(40)
            #expect(numbers == Array(first + 1..<first + 41))
            #expect(lost == 0)
            while feed.next(within: 0) != nil {}
            try until {
                _ = feed.next(within: 1_000_000)
                return feed.isDirect
            }
            try publish(first + 50..<first + 53)
            #expect(feed.waiting == 3 && events.count == 0)
            #expect(taken(3).numbers == Array(first + 50..<first + 53))
        }
    }

    @Test func `ends in order when it ends during a write`() throws {
        defer { close() }
        try publish(0..<1)
        #expect(taken(1).numbers == [0])
        feed.beginWriting()
        try publish(1..<4)
        ring.finish(.stopped)
        try until { events.count == 4 }
        feed.endWriting()
        #expect(taken(3).numbers == [1, 2, 3])
        guard case .ended(.video, lost: 0)? = feed.next(within: 10_000_000_000) else {
            Issue.record("there is no end")
            return
        }
    }
}
