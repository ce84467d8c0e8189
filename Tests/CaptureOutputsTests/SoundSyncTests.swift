@testable import CaptureOutputs

@testable import MediaExamination
import CaptureCore
import CaptureRing
import CaptureSystem
import Glibc
import Testing

/// Sound stays with the picture, however the sound card's clock runs.
@Suite struct SoundSyncTests {
    /// What a timeline and an encoder make of a card's sound: when its clicks are heard, and how far the pitch was off.
    private func play(
        _ card: inout SoundCard,
        seconds: Double,
        limit: Int64 = .max,
        counters: RecorderCounters = RecorderCounters()
    ) throws -> (clicks: ClickFinder, offPitch: Double) {
        let encoder = try AudioEncoder("pcm", SoundCard.format, canStretch: true)
        let timeline = AudioTimeline(SoundCard.format, counters, stretching: encoder.resampler)
        timeline.limit = limit
        // The longest overrun.
        let pool = try BufferPool(count: 1, capacity: 150 * SoundCard.format.periodBytes)
        let zeros = [UInt8](repeating: 0, count: SoundCard.format.sampleRate * SoundCard.format.bytesPerFrame)
        var finder = ClickFinder()
        var offPitch = 0.0
        while card.now < seconds {
            let period = card.next()
            guard let memory = pool.take() else { throw CaptureError(.internalFault, "no buffer") }
            unsafe memory.bytes.copyBytes(from: period.bytes)
            let info = BufferInfo(
                timestamp: Rig.epoch.advanced(by: period.time),
                deviceSequence: 0,
                position: UInt64(period.position),
                bytesUsed: (period.bytes.count, 0, 0, 0),
                flags: period.flags
            )
            var packets: [EncodedPacket] = []
            try timeline.take(MediaBuffer(memory, of: pool, count: period.bytes.count, info: info)) {
                (piece) throws(CaptureError) in
                switch piece {
                case .samples(let bytes): packets += try unsafe encoder.encode(bytes)
                case .silence(let frames):
                    packets += try unsafe zeros.withUnsafeBufferPointer { (zeros) throws(CaptureError) in
                        let count = frames * SoundCard.format.bytesPerFrame
                        return try unsafe encoder.encode(UnsafeRawBufferPointer(start: zeros.baseAddress, count: count))
                    }
                }
            }
            for packet in packets { unsafe finder.look(packet.bytes) }
            offPitch = max(offPitch, abs((1 + encoder.resampler.stretch) * (1 + Double(card.drift) / 1e6) - 1))
        }
        if limit < .max { #expect(timeline.isFull && timeline.frames == limit) }
        return (finder, offPitch)
    }

    @Test(arguments: [-1000, 1000], [240_000, 240_001, 240_007, 240_093] as [Int64])
    func `what lies behind the end is not told as lost`(drift: Int, limit: Int64) throws {
        var card = SoundCard(drift: drift)
        let counters = RecorderCounters()
        _ = try play(&card, seconds: 31, limit: limit, counters: counters)
        #expect(counters.now.missedSamples == 0)
    }

    @Test(arguments: [-1000, -300, -50, 50, 300, 1000], [0, 137.0])
    func `in half an hour clicks stay within 10 ms of true time without drifting, and the pitch within 0.2 percent`(
        drift: Int,
        faultEvery: Double
    ) throws {
        let seconds = 1800.0
        var card = SoundCard(drift: drift, jitter: 1_000_000, faultEvery: faultEvery)
        let (finder, offPitch) = try play(&card, seconds: seconds)
        let distances = finder.distances
        #expect(Double(distances.count) > seconds * 0.97)
        let far = distances.map { abs($0) }.max() ?? 1
        #expect(far < 0.010, "\(far * 1000) ms at most")
        // What stays wrong for longer shows, too: by a millionth, it comes to 1.5 ms.
        func mean(_ distances: ArraySlice<Double>) -> Double { distances.reduce(0, +) / Double(distances.count) }
        let moved = mean(distances.suffix(10)) - mean(distances.dropFirst(300).prefix(10))
        #expect(abs(moved) < 0.001, "\(moved * 1000) ms from the fifth minute to the end")
        #expect(offPitch < 0.002, "\(offPitch * 100) %")
        // What was measured, and not only allowed for: a click a second, from which the pitch shows.
        let gaps = zip(finder.clicks, finder.clicks.dropFirst()).map { $1 - $0 }.filter { $0 < 1.5 }
        #expect(gaps.allSatisfy { abs($0 - 1) < 0.002 + 2 / Double(SoundCard.format.sampleRate) })
    }

    @Test(arguments: [-1000, 300]) func `in ten minutes of a movie clicks stay within 10 ms of true time`(
        drift: Int
    ) throws {
        let pictures = Material.yuyv(64, 48, fps: 1)
        let output = OutputDescription(name: "m", kind: .movie, format: "mkv", audioCodec: "pcm")
        let rig = try Rig(output, video: pictures, audio: SoundCard.format)
        var card = SoundCard(drift: drift, faultEvery: 20)
        var (frames, periods) = (0, 0)
        while card.now < 600 {
            if card.now >= Double(frames) {
                try rig.frame(Material.flat(90, pictures), at: Int64(frames) * 1_000_000_000)
                frames += 1
            }
            let period = card.next()
            try rig.periods(period, of: SoundCard.format)
            periods += 1
            // No more than the recorder keeps up with.
            let done = UInt64(max(card.now - 5, 0) * Double(SoundCard.format.sampleRate))
            if periods.isMultiple(of: 1000) { try rig.progress { $0.samples >= done } }
        }
        let counters = try rig.finished(try rig.end())
        #expect(abs(counters.drift - drift) <= 3)

        let raw = Rig.temporaryPath("s16")
        defer { unsafe unlink(raw) }
        _ = try Probe.run("ffmpeg -v error -i \(rig.path) -map 0:a -c copy -f s16le \(raw)")
        var finder = ClickFinder()
        unsafe try Shell.bytes(raw).withUnsafeBytes { bytes in unsafe finder.look(bytes) }
        let distances = finder.distances
        #expect(distances.count > 540)
        for (name, part) in [
            ("start", distances.prefix(10)), ("middle", distances.dropFirst(295).prefix(10)),
            ("end", distances.suffix(10)),
        ] {
            let far = part.max { abs($0) < abs($1) } ?? 1
            #expect(abs(far) < 0.010, "\(name): \(far * 1000) ms")
        }
        let far = distances.map { abs($0) }.max() ?? 1
        #expect(far < 0.010, "\(far * 1000) ms at most")
    }
}

extension Rig {
    /// Publishes a card's period; one that is longer than a slot in parts.
    fileprivate func periods(_ period: SoundCard.Period, of format: AudioFormat) throws {
        for start in stride(from: 0, to: period.bytes.count, by: format.periodBytes) {
            let frames = Int64(start / format.bytesPerFrame)
            try self.period(
                Array(period.bytes[start..<min(start + format.periodBytes, period.bytes.count)]),
                at: period.time + frames * 1_000_000_000 / Int64(format.sampleRate),
                position: UInt64(period.position + frames),
                flags: period.flags
            )
        }
    }
}
