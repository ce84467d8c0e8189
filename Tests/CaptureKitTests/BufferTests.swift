import BusSupport
import CaptureBus
import CaptureKit
import CaptureRing
import CaptureSystem
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10)))
struct BufferTests {
    private static let format = MediaFormat.video(
        VideoFormat(
            pixelFormat: .grey,
            width: 16,
            height: 16,
            interval: FrameInterval(framesPerSecond: 30),
            planes: [PlaneLayout(offset: 0, stride: 16, size: 256)]
        )
    )

    private static func output(_ take: @escaping @Sendable (VideoFrame) -> Void) -> VideoDataOutput {
        VideoDataOutput(name: "buffer", alwaysDiscardsLateVideoFrames: false) { event in
            if case .data(let frame) = event { take(frame) }
        }
    }

    private static func publish(_ ring: RingWriter, _ value: UInt8) throws {
        let slot = try #require(ring.claim())
        let memory = unsafe ring.memory(ofSlot: slot)
        for index in 0..<256 { unsafe memory[index] = value }
        let info = BufferInfo(
            timestamp: .now,
            deviceSequence: UInt64(value),
            bytesUsed: (256, 0, 0, 0),
            flags: [.keyframe, .monotonic]
        )
        ring.publish(slot, info)
    }

    /// - Parameter refused: How many calls for a ring are refused after the first.
    private func running(
        _ rings: [RingWriter],
        _ output: VideoDataOutput,
        refused: Int = 0
    ) async throws -> (FakeDaemon, CaptureSession) {
        let next = Mutex(0)
        let refusals = Mutex(refused)
        let daemon = try await FakeDaemon([
            "Start": FakeDaemon.becoming(.running),
            "OpenBuffer": { _, _ throws(CaptureError) in
                let isRefused = refusals.withLock { left in
                    guard next.withLock({ $0 }) > 0, left > 0 else { return false }
                    left -= 1
                    return true
                }
                if isRefused { throw CaptureError(.wrongState, "session 7 is suspended, not running") }
                let index = next.withLock { number in
                    defer { number += 1 }
                    return number
                }
                return [.descriptor(rings[index].file)]
            },
        ])
        let session = try await CaptureSession(on: try await daemon.client())
        try await session.addInput(.camera())
        try await session.addOutput(output)
        try await session.startRunning()
        return (daemon, session)
    }

    @Test func `a handler is given what is published, on a thread of its own`() async throws {
        let ring = try RingWriter(format: BufferTests.format, slots: 8, kept: 4, name: "test")
        let (values, feed) = AsyncStream<UInt8>.makeStream()
        let output = BufferTests.output { frame in
            let value = unsafe frame.planes[0].bytes[100]
            if frame.isIntact { feed.yield(value) }
        }
        let (daemon, session) = try await running([ring], output)
        for value in 1...3 as ClosedRange<UInt8> { try BufferTests.publish(ring, value) }
        var seen: [UInt8] = []
        for await value in values {
            seen.append(value)
            if seen.count == 3 { break }
        }
        #expect(seen == [1, 2, 3])
        ring.finish(.deviceLost)
        output.stop()
        withExtendedLifetime((daemon, session)) {}
    }

    @Test(arguments: [1, 20] as [UInt8])
    func `a stream that moves goes on in its new ring, and tells what was overwritten there`(
        count: UInt8
    ) async throws {
        let first = try RingWriter(format: BufferTests.format, slots: 8, kept: 4, name: "first")
        let second = try RingWriter(format: BufferTests.format, slots: 8, kept: 4, name: "second")
        let (sequences, feed) = AsyncStream<UInt64>.makeStream()
        let output = BufferTests.output { feed.yield($0.sequence) }
        let (daemon, session) = try await running([first, second], output)
        var iterator = sequences.makeAsyncIterator()
        try BufferTests.publish(first, 1)
        #expect(await iterator.next() == 1)
        for value in 2..<(2 + count) { try BufferTests.publish(second, value) }
        first.finish(.moved)
        try moved(daemon)
        let missed = count > 8 ? count - 8 : 0
        for value in (2 + missed)..<(2 + count) { #expect(await iterator.next() == UInt64(value)) }
        #expect(output.missed == UInt64(missed))
        second.finish(.stopped)
        output.stop()
        withExtendedLifetime(session) {}
    }

    @Test func `a stream that is interrupted goes on in the same reader with what is captured after that`() async throws
    {
        let first = try RingWriter(format: BufferTests.format, slots: 8, kept: 4, name: "first")
        let second = try RingWriter(format: BufferTests.format, slots: 8, kept: 4, name: "second")
        let (sequences, feed) = AsyncStream<UInt64>.makeStream()
        let output = BufferTests.output { feed.yield($0.sequence) }
        // The first that goes on is interrupted again before its ring is asked for.
        let (daemon, session) = try await running([first, second], output, refused: 1)
        var iterator = sequences.makeAsyncIterator()
        try BufferTests.publish(first, 1)
        #expect(await iterator.next() == 1)
        let states = try await session.states()
        // Somebody else captures meanwhile.
        try BufferTests.publish(second, 2)
        first.finish(.moved)
        for _ in 0..<2 {
            try daemon.become(.suspended, CaptureError(.switchedOff, "the camera was switched off for every program"))
            try daemon.become(.running)
            try moved(daemon)
        }
        var seen: [SessionState] = []
        for await status in states {
            seen.append(status.state)
            if status.state == .suspended { #expect(status.interruption == .consentWithdrawn) }
            if seen.count == 5 { break }
        }
        #expect(seen == [.running, .suspended, .running, .suspended, .running])
        let publishing = Task {
            for value in 3...255 as ClosedRange<UInt8> {
                try BufferTests.publish(second, value)
                try await Task.sleep(for: .milliseconds(20))
            }
            // Nothing reads any more.
            feed.finish()
        }
        #expect(try #require(await iterator.next()) > 2)
        publishing.cancel()
        #expect(output.failure == nil)
        output.stop()
        withExtendedLifetime(session) {}
    }

    @Test func `a ring that is told of twice is read once`() async throws {
        let (first, second, third) = (
            try RingWriter(format: BufferTests.format, slots: 8, kept: 4, name: "first"),
            try RingWriter(format: BufferTests.format, slots: 8, kept: 4, name: "second"),
            try RingWriter(format: BufferTests.format, slots: 8, kept: 4, name: "third")
        )
        let (sequences, feed) = AsyncStream<UInt64>.makeStream()
        let output = BufferTests.output { feed.yield($0.sequence) }
        // A move that is told of when the ring that it led to is there already: the same ring again.
        let (daemon, session) = try await running([first, second, second, third], output)
        var iterator = sequences.makeAsyncIterator()
        try BufferTests.publish(first, 1)
        #expect(await iterator.next() == 1)
        try BufferTests.publish(second, 2)
        first.finish(.moved)
        try moved(daemon)
        #expect(await iterator.next() == 2)
        try moved(daemon)
        try BufferTests.publish(third, 3)
        try moved(daemon)
        second.finish(.moved)
        #expect(await iterator.next() == 3)
        #expect(output.failure == nil)
        output.stop()
        withExtendedLifetime(session) {}
    }

    @Test func `a reader of an interrupted session that ends is told why`() async throws {
        let ring = try RingWriter(format: BufferTests.format, slots: 8, kept: 4, name: "test")
        let (sequences, feed) = AsyncStream<UInt64>.makeStream()
        let output = BufferTests.output { feed.yield($0.sequence) }
        let (daemon, session) = try await running([ring], output)
        try BufferTests.publish(ring, 1)
        for await _ in sequences { break }
        let states = try await session.states()
        ring.finish(.moved)
        try daemon.become(.suspended, CaptureError(.userAway, "session 2 is locked"))
        for await status in states where status.state == .suspended { break }
        #expect(await session.isInterrupted)
        #expect(await session.status.interruption == .userAway)
        #expect(output.failure == nil)
        try daemon.become(.failed, CaptureError(.revoked, "the consent was withdrawn"))
        while output.failure == nil { try await Task.sleep(for: .milliseconds(5)) }
        #expect(output.failure?.code == .revoked)
        output.stop()
    }

    @Test(arguments: [nil, StreamEnd.stopped])
    func `a session that has ended is read no more, though its ring goes on, and says why`(end: StreamEnd?) async throws
    {
        let ring = try RingWriter(format: BufferTests.format, slots: 8, kept: 4, name: "test")
        let (sequences, feed) = AsyncStream<UInt64>.makeStream()
        let output = BufferTests.output { feed.yield($0.sequence) }
        let (daemon, session) = try await running([ring], output)
        try BufferTests.publish(ring, 1)
        for await _ in sequences { break }
        if let end { ring.finish(end) }
        try daemon.become(.failed, CaptureError(.unreachable, "captured was stopped"))
        while output.failure == nil { try await Task.sleep(for: .milliseconds(5)) }
        #expect(output.failure?.message == "captured was stopped")
        // As another program's session has it.
        if end == nil { try BufferTests.publish(ring, 2) }
        output.stop()
        feed.finish()
        for await sequence in sequences { Issue.record("frame \(sequence) came after the end") }
        withExtendedLifetime(session) {}
    }

    /// A ring of frames of 16 by 16, of another format than the others here.
    private static func ring(_ pixelFormat: PixelFormat, slots: Int = 8) throws -> RingWriter {
        guard case .video(var format) = format else { throw CaptureError(.badData, "no video") }
        format.pixelFormat = pixelFormat
        return try RingWriter(format: .video(format), slots: slots, kept: 1, name: "test")
    }

    @Test func `each frame tells its format, and one that cannot be converted ends the output with its reason`()
        async throws
    {
        let rings = [
            try RingWriter(format: BufferTests.format, slots: 8, kept: 4, name: "test"),
            try BufferTests.ring(PixelFormat(name: "BA81") ?? .sbggr8), try BufferTests.ring(.h264),
        ]
        let (events, feed) = AsyncStream<DataOutputEvent<VideoFrame>>.makeStream()
        let settings = try VideoSettings(pixelFormat: .grey, width: 8, height: 8)
        let output = VideoDataOutput(name: "buffer", settings: settings) { feed.yield($0) }
        let (daemon, session) = try await running(rings, output)
        var iterator = events.makeAsyncIterator()
        for (index, range) in [0, 1].enumerated() {
            try BufferTests.publish(rings[index], 120)
            guard case .data(let frame) = await iterator.next() else { throw CaptureError(.badData, "no frame") }
            #expect((frame.format.pixelFormat, frame.format.width, frame.planes[0].stride) == (.grey, 8, 8))
            #expect(frame.sequence == 120 && frame.isIntact)
            // Luma passes as it is; the grey of a sensor becomes luma of limited range.
            let value = Int(unsafe frame.planes[0].bytes[20])
            #expect(abs(value - (range == 0 ? 120 : 16 + 120 * 219 / 255)) <= 2)
            #expect(frame.format.color.quantization == (range == 0 ? 1 : 2))
            rings[index].finish(.moved)
            try moved(daemon)
        }
        // The settings may change at any time.
        output.videoSettings = try VideoSettings(pixelFormat: .nv12)
        try BufferTests.publish(rings[2], 3)
        guard case .ended(let error?) = await iterator.next() else { throw CaptureError(.badData, "no end") }
        #expect(error.code == .noSuchFormat && error.message.contains("H264") && error.message.contains("NV12"))
        #expect(output.failure == error)
        output.stop()
        withExtendedLifetime(session) {}
    }

    @Test func `what a slow handler misses, what the device lost and what is too short are told by number`()
        async throws
    {
        let ring = try RingWriter(format: BufferTests.format, slots: 4, kept: 1, name: "test")
        let told = Told<VideoFrame>()
        let (entered, entering) = AsyncStream<Void>.makeStream()
        let gate = try EventSignal()
        let output = VideoDataOutput(name: "buffer", alwaysDiscardsLateVideoFrames: false) { event in
            told.take(event)
            guard case .data(let frame) = event, frame.sequence == 1 else { return }
            entering.yield()
            _ = try? Poll.wait(gate.descriptor, timeout: -1)
        }
        let (daemon, session) = try await running([ring], output)
        try BufferTests.publish(ring, 1)
        for await _ in entered { break }
        for value in 2...10 as ClosedRange<UInt8> { try BufferTests.publish(ring, value) }
        gate.raise()
        #expect(try await told.until { $0.data.last?.sequence == 10 })
        let late = told.dropped.filter { $0.1 == .late }.reduce(0) { $0 + $1.0 }
        #expect(late >= 5 && late + UInt64(told.data.count) == 10 + 1)
        let slot = try #require(ring.claim())
        ring.publish(
            slot,
            BufferInfo(timestamp: .now, deviceSequence: 14, bytesUsed: (255, 0, 0, 0), flags: [], lostBefore: 3)
        )
        #expect(try await told.until { $0.dropped.count >= 2 && $0.dropped.last?.1 == .damaged })
        #expect(told.dropped.contains { $0 == (3, .device) } && told.dropped.contains { $0 == (1, .damaged) })
        ring.finish(.deviceLost)
        #expect(try await told.until { !$0.ends.isEmpty })
        #expect(told.ends.map { $0?.code } == [.deviceLost])
        output.stop()
        #expect(told.ends.count == 1)
        withExtendedLifetime((daemon, session)) {}
    }

    @Test func `a program holds a bounded number of converted frames`() async throws {
        let ring = try RingWriter(format: BufferTests.format, slots: 8, kept: 1, name: "test")
        let told = Told<VideoFrame>()
        let settings = try VideoSettings(pixelFormat: .bgra32)
        let output = VideoDataOutput(name: "buffer", settings: settings, alwaysDiscardsLateVideoFrames: false) {
            told.take($0)
        }
        let (daemon, session) = try await running([ring], output)
        for value in 1...20 as ClosedRange<UInt8> {
            try BufferTests.publish(ring, value)
            let index = Int(value)
            #expect(try await told.until { $0.data.count + $0.dropped.count == index })
        }
        #expect(told.data.count == 16 && told.dropped.allSatisfy { $0 == (1, .outOfMemory) })
        // Each is still what it was.
        for frame in told.data { #expect(unsafe frame.planes[0].bytes[0] == UInt8(frame.sequence)) }
        output.stop()
        #expect(told.ends == [nil])
        withExtendedLifetime((daemon, session)) {}
    }

    private func moved(_ daemon: FakeDaemon) throws {
        try daemon.connection.emit(
            FakeDaemon.session,
            CaptureNames.session,
            "BufferMoved",
            signature: "s",
            [.string("buffer")]
        )
    }
}
