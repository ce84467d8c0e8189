import BusSupport
import CaptureCore
import CaptureKit
import CaptureRing
import Synchronization
import Testing

/// What a handler was told. Thread-safe.
final class Told<Data: Sendable>: Sendable {
    private let state = Mutex([DataOutputEvent<Data>]())

    func take(_ event: DataOutputEvent<Data>) { state.withLock { $0.append(event) } }

    var data: [Data] {
        state.withLock { events in
            events.compactMap { event in
                if case .data(let data) = event { data } else { nil }
            }
        }
    }

    var dropped: [(UInt64, DropReason)] {
        state.withLock { events in
            events.compactMap { event in
                if case .dropped(let count, let reason) = event { (count, reason) } else { nil }
            }
        }
    }

    /// The reasons of ends.
    var ends: [CaptureError?] {
        state.withLock { events in
            events.compactMap { event in
                if case .ended(let error) = event { .some(error) } else { nil }
            }
        }
    }

    /// Returns once something holds, or after a time in which it should have come to.
    func until(_ holds: (Told) -> Bool) async throws -> Bool {
        let limit = ContinuousClock.now + .seconds(300)
        while !holds(self), ContinuousClock.now < limit { try await Task.sleep(for: .milliseconds(5)) }
        return holds(self)
    }
}

extension Told<VideoFrame> {
    /// Whether a frame of the camera's is missing among its frames.
    fileprivate var hasGap: Bool { zip(data, data.dropFirst()).contains { $1.sequence != $0.sequence + 1 } }
}

/// Data outputs with the devices of a real daemon.
@Suite(.timeLimit(.minutes(10)))
struct DataOutputTests {
    /// The middle of a plane's byte row at a part of its width, at a third of the height.
    private static func byte(_ frame: VideoFrame, _ plane: Int, _ part: Double, _ step: Int, _ offset: Int) -> Int {
        let place = frame.planes[plane]
        let row = place.height / 3 * place.stride
        return Int(unsafe place.bytes[row + Int(part * Double(place.width)) * step + offset])
    }

    private typealias ThreeOutputs = (
        outputs: [VideoDataOutput], plain: Told<VideoFrame>, small: Told<VideoFrame>, slow: Told<VideoFrame>
    )

    /// What three outputs of one camera are told.
    private func threeOutputs(of daemon: CaptureDaemon) async throws -> ThreeOutputs {
        let (plain, small, slow) = (Told<VideoFrame>(), Told<VideoFrame>(), Told<VideoFrame>())
        // Five frames are few enough to be held.
        let outputs = [
            VideoDataOutput(name: "plain", alwaysDiscardsLateVideoFrames: false) { plain.take($0) },
            VideoDataOutput(name: "small", settings: try VideoSettings(pixelFormat: .bgra32, width: 160)) {
                if small.data.count < 5 { small.take($0) }
            },
            VideoDataOutput(
                name: "slow",
                settings: try VideoSettings(pixelFormat: .nv12, width: 640, height: 480, framesPerSecond: 10),
                alwaysDiscardsLateVideoFrames: false
            ) { if slow.data.count < 5 { slow.take($0) } },
        ]
        let session = try await SessionLifeTests.session(daemon)
        for output in outputs { try await session.addOutput(output) }
        try await session.startRunning()
        #expect(try await slow.until { $0.data.count == 5 })
        #expect(try await small.until { $0.data.count == 5 })
        try await session.stopRunning()
        #expect(try await plain.until { $0.ends.count == 1 })
        #expect(plain.ends == [nil])
        return (outputs, plain, small, slow)
    }

    @Test func `outputs of one camera have their own formats, sizes and rates`() async throws {
        let captured = try await RealDaemon()
        let daemon = try await captured.client()
        var told = try await threeOutputs(of: daemon)
        // A machine that is held up loses frames, which then tell nothing of rates.
        for _ in 1..<20 where told.plain.hasGap || !told.slow.dropped.isEmpty {
            told = try await threeOutputs(of: daemon)
        }
        let (outputs, plain, small, slow) = told

        let frames = plain.data
        #expect(frames.allSatisfy { ($0.format.width, $0.format.height) == (320, 240) })
        for (before, after) in zip(frames, frames.dropFirst()) { #expect(after.sequence > before.sequence) }
        for frame in small.data {
            #expect((frame.format.width, frame.format.height, frame.format.pixelFormat) == (160, 120, .bgra32))
            #expect(frame.planes.count == 1 && frame.planes[0].stride == 640 && frame.isIntact)
            // Red is the sixth of seven bars; a flash is white.
            let color = (0..<4).map { DataOutputTests.byte(frame, 0, 5.5 / 7, 4, $0) }
            #expect(
                [[0, 0, 191, 255], [255, 255, 255, 255]].contains { zip($0, color).allSatisfy { abs($0 - $1) < 8 } }
            )
            #expect(frames.contains { $0.sequence == frame.sequence && $0.time == frame.time })
        }
        for (before, after) in zip(slow.data, slow.data.dropFirst()) {
            #expect(after.sequence - before.sequence == 3)
        }
        let big = try #require(slow.data.first)
        #expect(big.planes.map(\.height) == [480, 240] && big.planes.map(\.width) == [640, 320])
        #expect(abs(big.format.interval.framesPerSecond - 10) < 0.01)
        #expect(outputs.allSatisfy { $0.failure == nil })
    }

    private func sound(of daemon: CaptureDaemon) async throws -> Told<AudioSamples> {
        let told = Told<AudioSamples>()
        let settings = try AudioSettings(sampleFormat: .float32, sampleRate: 16000, channels: 1)
        let output = AudioDataOutput(settings: settings) { if told.data.count < 40 { told.take($0) } }
        let session = try await CaptureSession(on: daemon)
        try await session.addInput(.microphone("synthetic:microphone"))
        try await session.addOutput(output)
        try await session.startRunning()
        #expect(try await told.until { $0.data.count == 40 })
        try await session.stopRunning()
        return told
    }

    @Test func `sound is brought to another format, rate and number of channels without a gap`() async throws {
        let captured = try await RealDaemon()
        let daemon = try await captured.client()
        var told = try await sound(of: daemon)
        // A machine that is held up loses some.
        for _ in 1..<20 where !told.dropped.isEmpty { told = try await sound(of: daemon) }
        #expect(told.dropped.isEmpty)
        for (before, after) in zip(told.data, told.data.dropFirst()) {
            #expect((after.format.sampleRate, after.format.channels, after.format.sampleFormat) == (16000, 1, .float32))
            #expect(after.position == before.position + UInt64(before.frameCount))
            #expect(unsafe after.bytes.count == after.frameCount * 4)
            // To a sample.
            #expect(abs(after.time - before.time - before.duration) < 62_500)
        }
    }

    @Test func `flash and beep are handed over together`() async throws {
        let captured = try await RealDaemon()
        let told = Told<SynchronizedData>()
        let video = VideoDataOutput(settings: try VideoSettings(pixelFormat: .grey, width: 32))
        let second = VideoDataOutput(name: "second", settings: try VideoSettings(pixelFormat: .nv12))
        let audio = AudioDataOutput(settings: try AudioSettings(sampleFormat: .s16, channels: 1))
        let flashes = Mutex([(beep: Int64, other: Int64)]())
        _ = try DataOutputSynchronizer(dataOutputs: [video, second, audio]) { event in
            guard case .data(let set) = event else { return told.take(event) }
            guard let frame = set.frame(of: video), let other = set.frame(of: second),
                unsafe frame.planes[0].bytes.reduce(0, { $0 + Int($1) }) > frame.planes[0].bytes.count * 160
            else { return }
            // Sound that a busy machine brought too late says nothing.
            guard set.drop(of: audio) == nil else { return }
            for stretch in set.samples(of: audio) {
                let values = unsafe stretch.bytes.bindMemory(to: Int16.self)
                guard let loud = unsafe values.firstIndex(where: { abs(Int($0)) > 8000 }) else { continue }
                let time = stretch.time.advanced(by: Int64(loud) * 1_000_000_000 / Int64(stretch.format.sampleRate))
                flashes.withLock { $0.append((time - set.time, other.time - set.time)) }
                return
            }
            flashes.withLock { $0.append((.max, 0)) }
        }
        let session = try await SessionLifeTests.session(try await captured.client(), video, second)
        try await session.addInput(.microphone("synthetic:microphone"))
        try await session.addOutput(audio)
        try await session.startRunning()
        // The first flash may come before the sound does.
        while flashes.withLock({ $0.count }) < 3 { try await Task.sleep(for: .milliseconds(10)) }
        try await session.stopRunning()
        #expect(try await told.until { !$0.ends.isEmpty })
        #expect(told.ends == [nil])
        for flash in flashes.withLock({ $0 }).dropFirst() {
            #expect(abs(flash.beep) <= 10_000_000 && abs(flash.other) <= 16_666_667)
        }
    }

    @Test func `a synchronizer of outputs whose session runs begins at once`() async throws {
        let captured = try await RealDaemon()
        let (told, output) = (Told<SynchronizedData>(), VideoDataOutput())
        let session = try await SessionLifeTests.session(try await captured.client(), output)
        try await session.startRunning()
        _ = try DataOutputSynchronizer(dataOutputs: [output]) { if told.data.count < 3 { told.take($0) } }
        #expect(try await told.until { $0.data.count == 3 })
        try await session.stopRunning()
    }

    @Test func `an output has one handler`() throws {
        let taken = VideoDataOutput { _ in }
        let error = try #require(throws: CaptureError.self) {
            try DataOutputSynchronizer(dataOutputs: [taken]) { _ in }
        }
        #expect(error.code == .usage && error.message.contains("video-data"))
        #expect(throws: CaptureError.self) { try DataOutputSynchronizer(dataOutputs: []) { _ in } }
    }

    @Test func `settings name the value that cannot be asked for`() throws {
        for (settings, word) in [
            ({ () throws(CaptureError) in _ = try VideoSettings(pixelFormat: .h264) }, "H264"),
            ({ () throws(CaptureError) in _ = try VideoSettings(pixelFormat: .nv12, width: 33) }, "33"),
            ({ () throws(CaptureError) in _ = try VideoSettings(height: 1 << 20) }, "1048576"),
            ({ () throws(CaptureError) in _ = try VideoSettings(framesPerSecond: 0) }, "0.0"),
            ({ () throws(CaptureError) in _ = try AudioSettings(sampleFormat: .s24Packed) }, "S24_3LE"),
            ({ () throws(CaptureError) in _ = try AudioSettings(sampleRate: 7) }, "7"),
            ({ () throws(CaptureError) in _ = try AudioSettings(channels: 9) }, "9"),
        ] as [(() throws(CaptureError) -> Void, String)] {
            let error = try #require(throws: CaptureError.self) { try settings() }
            #expect(error.code == .usage && error.message.contains(word), "\(error)")
        }
        _ = try VideoSettings(pixelFormat: .grey, width: 33, height: 33)
    }
}
