import CaptureCore
import CaptureRing
import CaptureSystem
import Synchronization
import Testing

@testable import CaptureKit

/// A ring that a test writes, and an output that reads it, without a daemon.
struct Source {
    let ring: RingWriter

    init(_ format: MediaFormat, slots: Int = 4) throws {
        ring = try RingWriter(format: format, slots: slots, kept: 1, name: "test")
    }

    static func camera(_ pixelFormat: PixelFormat = .grey) -> MediaFormat {
        .video(
            VideoFormat(
                pixelFormat: pixelFormat,
                width: 16,
                height: 16,
                interval: FrameInterval(framesPerSecond: 30),
                planes: [PlaneLayout(offset: 0, stride: 16, size: 256)]
            )
        )
    }

    static let microphone = MediaFormat.audio(
        AudioFormat(sampleFormat: .s16, sampleRate: 48000, channels: 1, periodFrames: 480)
    )

    func read(_ output: DataOutput) async throws {
        let turn = try #require(await output.reserve())
        try output.begin(try FrameBufferReader(ring.file, try BufferMoves()), turn)
    }

    /// Publishes the frame or period of a number, 30 or 100 of which are a second.
    func publish(_ number: Int, lostBefore: UInt32 = 0, bytes: Int = 256) throws {
        let slot = try #require(ring.claim())
        let length: Int64 = bytes == 256 ? 33_333_333 : 10_000_000
        ring.publish(
            slot,
            BufferInfo(
                timestamp: Timestamp(nanoseconds: 1_000_000_000 + Int64(number) * length),
                deviceSequence: UInt64(number),
                position: UInt64(number) * 480,
                bytesUsed: (bytes, 0, 0, 0),
                flags: [.keyframe, .monotonic],
                lostBefore: lostBefore
            )
        )
    }
}

/// Something that a test waits for.
final class Gate: Sendable {
    private let signal: EventSignal

    init() throws { signal = try EventSignal() }

    func open() { signal.raise() }

    /// Waits until it is open, or for a time.
    ///
    /// - Returns: Whether it is open.
    @discardableResult
    func wait(milliseconds: Int32 = 60_000) -> Bool {
        ((try? Poll.wait(signal.descriptor, timeout: milliseconds)) ?? []).isEmpty == false
    }
}

/// What outputs make of buffers that a test publishes.
@Suite(.timeLimit(.minutes(10)))
struct DataReadingTests {
    @Test func `a converted frame that was handed over is not late, however long its handler takes`() async throws {
        let source = try Source(Source.camera())
        let (told, entered, release) = (Told<VideoFrame>(), try Gate(), try Gate())
        let settings = try VideoSettings(width: 8)
        let output = VideoDataOutput(settings: settings, alwaysDiscardsLateVideoFrames: false) { event in
            told.take(event)
            entered.open()
            release.wait()
        }
        try await source.read(output)
        try source.publish(0)
        entered.wait()
        // The first is overwritten, and with it some of the others.
        for number in 1..<10 { try source.publish(number) }
        release.open()
        #expect(try await told.until { $0.data.last?.sequence == 9 })
        output.stop()
        #expect(UInt64(told.data.count) + told.dropped.reduce(0) { $0 + $1.0 } == 10)
        #expect(told.dropped.allSatisfy { $0.1 == .late } && output.missed == 10 - UInt64(told.data.count))
    }

    @Test func `frames that are left out for the rate are not late`() async throws {
        let source = try Source(Source.camera(), slots: 16)
        let (told, entered, release) = (Told<VideoFrame>(), try Gate(), try Gate())
        let output = VideoDataOutput(settings: try VideoSettings(framesPerSecond: 10)) { event in
            told.take(event)
            entered.open()
            release.wait()
        }
        try await source.read(output)
        try source.publish(0)
        entered.wait()
        // The third is due, and the newest.
        for number in 1...3 { try source.publish(number) }
        release.open()
        #expect(try await told.until { $0.data.last?.sequence == 3 })
        #expect(told.dropped.isEmpty && output.missed == 0)
        output.stop()
    }

    @Test func `of frames lost together those count that were due`() throws {
        var pace = FramePace(framesPerSecond: 10, interval: 33_333_333)
        func time(_ frame: Int64) -> Timestamp { Timestamp(nanoseconds: 5_000_000_000 + frame * 33_333_333) }
        let first = pace.takes(time(0))
        // Due are 3, 6 and 9, in whose place 11 comes.
        let counts = [pace.lost(6, before: time(11)), pace.lost(4, before: time(11))]
        let next = [pace.takes(time(11)), pace.takes(time(11))]
        #expect(first && counts == [2, 0] && next == [true, false])
        var any = FramePace(framesPerSecond: nil, interval: 33_333_333)
        let all = any.lost(7, before: time(8))
        #expect(all == 7)
    }

    @Test func `sound that its source lost is told of in periods`() async throws {
        let source = try Source(Source.microphone, slots: 8)
        let told = Told<AudioSamples>()
        let output = AudioDataOutput { told.take($0) }
        try await source.read(output)
        try source.publish(0, bytes: 960)
        try source.publish(3, lostBefore: 960, bytes: 960)
        #expect(try await told.until { $0.data.count == 2 })
        output.stop()
        #expect(told.dropped.map(\.0) == [2] && told.dropped.map(\.1) == [.device])
    }

    @Test func `what a source lost before a frame that was passed over is told`() async throws {
        let source = try Source(Source.camera(), slots: 16)
        let (told, entered, release) = (Told<VideoFrame>(), try Gate(), try Gate())
        let output = VideoDataOutput { event in
            told.take(event)
            entered.open()
            release.wait()
        }
        try await source.read(output)
        try source.publish(0)
        entered.wait()
        try source.publish(3, lostBefore: 2)
        try source.publish(4)
        try source.publish(6, lostBefore: 1)
        release.open()
        #expect(try await told.until { $0.data.last?.sequence == 6 })
        output.stop()
        #expect(told.dropped.map(\.0) == [2, 3] && told.dropped.map(\.1) == [.late, .device])
    }

    @Test func `what a source lost before a period that was overwritten is told`() async throws {
        let source = try Source(Source.microphone)
        let (told, entered, release) = (Told<AudioSamples>(), try Gate(), try Gate())
        let output = AudioDataOutput(settings: try AudioSettings(sampleFormat: .s32)) { event in
            told.take(event)
            entered.open()
            release.wait()
        }
        try await source.read(output)
        try source.publish(0, bytes: 960)
        entered.wait()
        try source.publish(10, lostBefore: 9 * 480, bytes: 960)
        for number in 11...20 { try source.publish(number, bytes: 960) }
        release.open()
        #expect(try await told.until { $0.data.last?.position == 20 * 480 })
        output.stop()
        let (late, device) = (told.dropped.filter { $0.1 == .late }, told.dropped.filter { $0.1 == .device })
        #expect(device.map(\.0) == [9])
        #expect(UInt64(told.data.count) + late.reduce(0) { $0 + $1.0 } + 9 == 21)
    }

    @Test func `an output whose memory holds something else names both`() async throws {
        let (picture, sound) = (Told<VideoFrame>(), Told<AudioSamples>())
        let video = VideoDataOutput(name: "door") { picture.take($0) }
        let audio = AudioDataOutput(name: "voice") { sound.take($0) }
        let sources = (try Source(Source.microphone), try Source(Source.camera()))
        try await sources.0.read(video)
        try await sources.1.read(audio)
        try sources.0.publish(0, bytes: 960)
        try sources.1.publish(0)
        #expect(try await picture.until { $0.ends.count == 1 })
        #expect(try await sound.until { $0.ends.count == 1 })
        #expect(video.failure?.message == "cannot read frames from 'door': its shared memory contains sound")
        #expect(audio.failure?.message == "cannot read sound from 'voice': its shared memory contains video")
    }

    @Test func `an output stopped while it is removed waits for its handler`() async throws {
        let source = try Source(Source.camera())
        let (entered, release, stopped) = (try Gate(), try Gate(), try Gate())
        let isRunning = Atomic(false)
        let output = VideoDataOutput { event in
            guard case .data = event else { return }
            isRunning.store(true, ordering: .sequentiallyConsistent)
            entered.open()
            release.wait()
            isRunning.store(false, ordering: .sequentiallyConsistent)
        }
        try await source.read(output)
        try source.publish(0)
        entered.wait()
        #expect(output.startCeasing() != nil)
        let wasRunning = Atomic(false)
        try WorkerThread.detached(name: "stop") {
            output.stop()
            wasRunning.store(isRunning.load(ordering: .sequentiallyConsistent), ordering: .sequentiallyConsistent)
            stopped.open()
        }
        // It does not return before, so this only gives it the time to do so wrongly.
        #expect(!stopped.wait(milliseconds: 200))
        release.open()
        #expect(stopped.wait() && !wasRunning.load(ordering: .sequentiallyConsistent))
        await output.cease()
    }

    @Test func `a synchronizer's slow handler holds up no output`() async throws {
        let sources = (try Source(Source.camera(), slots: 64), try Source(Source.camera(), slots: 64))
        let outputs = (VideoDataOutput(name: "first"), VideoDataOutput(name: "second"))
        let (told, entered, release) = (Told<SynchronizedData>(), try Gate(), try Gate())
        let isRunning = Atomic(false)
        _ = try DataOutputSynchronizer(dataOutputs: [outputs.0, outputs.1]) { event in
            told.take(event)
            // A loss may come first, of frames that were passed over.
            guard case .data = event else { return }
            isRunning.store(true, ordering: .sequentiallyConsistent)
            entered.open()
            release.wait()
            isRunning.store(false, ordering: .sequentiallyConsistent)
        }
        try await sources.0.read(outputs.0)
        try await sources.1.read(outputs.1)
        for number in 0..<4 {
            try sources.0.publish(number)
            try sources.1.publish(number)
        }
        entered.wait()
        // Both return while the handler runs.
        outputs.0.stop()
        await outputs.1.cease()
        let stillRuns = isRunning.load(ordering: .sequentiallyConsistent)
        #expect(stillRuns)
        release.open()
        #expect(try await told.until { $0.ends.count == 1 })
        let first = try #require(told.data.first)
        #expect(first.frame(of: outputs.0)?.time == first.time)
    }

    @Test func `of a synchronizer's sets those of a quarter of a second wait for a slow handler`() async throws {
        let (source, output) = (try Source(Source.camera(), slots: 64), VideoDataOutput())
        let (told, entered, release) = (Told<SynchronizedData>(), try Gate(), try Gate())
        _ = try DataOutputSynchronizer(dataOutputs: [output]) { event in
            told.take(event)
            entered.open()
            release.wait()
        }
        // Reads on this thread.
        let reader = try FrameBufferReader(source.ring.file, try BufferMoves())
        let handling = try #require(output.makeHandling())
        for number in 0..<30 {
            try source.publish(number)
            guard case .buffer(let buffer) = try reader.next(timeout: 0) else { continue }
            _ = try handling.take(buffer, of: reader.format)
            if number == 0 { entered.wait() }
        }
        release.open()
        handling.end(nil)
        #expect(try await told.until { $0.ends.count == 1 })
        // Seven frames, and two that are not complete; the first was with the handler.
        #expect(told.data.count == 10 && told.dropped.map(\.0) == [20] && told.dropped.map(\.1) == [.late])
        output.stop()
    }

    @Test func `a synchronizer that is refused leaves its outputs as they were`() throws {
        let (free, taken) = (VideoDataOutput(name: "free"), VideoDataOutput(name: "taken") { _ in })
        let error = try #require(throws: CaptureError.self) {
            try DataOutputSynchronizer(dataOutputs: [free, taken]) { _ in }
        }
        #expect(error.code == .usage && error.message.contains("'taken'"))
        let twice = try #require(throws: CaptureError.self) {
            try DataOutputSynchronizer(dataOutputs: [free, free]) { _ in }
        }
        #expect(twice.code == .usage && twice.message.contains("'free' is there twice"))
        _ = try DataOutputSynchronizer(dataOutputs: [free]) { _ in }
    }
}
