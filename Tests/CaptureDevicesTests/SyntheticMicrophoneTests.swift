import CaptureCore
import CaptureSystem
import Testing

@testable import CaptureDevices

/// A recorded stretch of sound on one line: the samples of the first channel, by position.
struct SoundLine {
    var samples: [Int16] = []
    /// The timestamp of each position where a period begins.
    var stamps: [(position: Int, time: Timestamp)] = []
    var silences: [Range<Int>] = []

    init(_ sink: MemorySink, _ format: AudioFormat) {
        for kept in sink.buffers {
            let position = Int(kept.info.position)
            stamps.append((position, kept.info.timestamp))
            while samples.count < position { samples.append(.min) }
            let frames = kept.bytes.count / format.bytesPerFrame
            if kept.info.flags.contains(.silence) { silences.append(position..<position + frames) }
            for frame in 0..<frames {
                let byte = frame * format.bytesPerFrame
                switch format.sampleFormat {
                case .float32:
                    let bits = (0..<4).reduce(UInt32(0)) { $0 | UInt32(kept.bytes[byte + $1]) << UInt32(8 * $1) }
                    samples.append(Int16(Float(bitPattern: bits) * 32767))
                default: samples.append(Int16(bitPattern: UInt16(kept.bytes[byte]) | UInt16(kept.bytes[byte + 1]) << 8))
                }
            }
        }
    }

    /// Where sound begins after at least 100 samples of quiet.
    var onsets: [Int] {
        var quiet = 100
        var found: [Int] = []
        for (index, sample) in samples.enumerated() {
            if abs(Int(sample)) > 1000 {
                if quiet >= 100 { found.append(index) }
                quiet = 0
            } else {
                quiet += 1
            }
        }
        return found
    }
}

@Suite struct SyntheticMicrophoneTests {
    private func record(
        _ request: AudioFormatRequest = AudioFormatRequest(),
        periods: Int,
        clock: SyntheticClock = SyntheticClock(speed: 20),
        controls: SyntheticControls = SyntheticControls(.audio),
        slots: Int = 256,
        onPublish: (@Sendable (Int) -> Void)? = nil
    ) throws -> (AudioFormat, MemorySink) {
        let format = try SyntheticFormats.negotiate(request)
        let sink = try MemorySink(.audio(format), enough: periods, slots: slots, onPublish: onPublish)
        var run = SyntheticMicrophone(format, BeepTone(format), clock, controls, sink)
        try run.stream(sink.enough)
        return (format, sink)
    }

    /// The same without a loss: on a machine so busy that the device overran by itself, once more.
    private func undisturbed(
        _ request: AudioFormatRequest = AudioFormatRequest(),
        periods: Int,
        speed: Int = 20,
        controls: SyntheticControls = SyntheticControls(.audio)
    ) throws -> (AudioFormat, MemorySink) {
        for _ in 1..<20 {
            let made = try record(request, periods: periods, clock: SyntheticClock(speed: speed), controls: controls)
            if made.1.kept.drops.isEmpty { return made }
        }
        return try record(request, periods: periods, clock: SyntheticClock(speed: 1), controls: controls)
    }

    @Test(arguments: [16_000, 44_100, 48_000], [SampleFormat.s16, .float32])
    func `a beep of 1 kHz begins at the sample of every whole second`(_ rate: Int, _ samples: SampleFormat) throws {
        let request = AudioFormatRequest(sampleFormat: samples, sampleRate: rate, channels: 1, isExact: true)
        let (format, sink) = try undisturbed(request, periods: 220)
        #expect(format.periodFrames == rate / 100)
        let line = SoundLine(sink, format)
        let origin = sink.buffers[0].info.timestamp
        for onset in line.onsets where onset > 0 {
            let time = origin.nanoseconds + Int64(onset) * 1_000_000_000 / Int64(rate)
            #expect(time % 1_000_000_000 == 0)
            let beep = line.samples[onset..<min(onset + rate / 20, line.samples.count)]
            let crossings = zip(beep, beep.dropFirst()).filter { ($0 < 0) != ($1 < 0) }.count
            if beep.count == rate / 20 { #expect((99...100).contains(crossings)) }
        }
        #expect(line.onsets.count >= 2)
    }

    @Test func `periods lie end to end with times that fit`() throws {
        let (_, sink) = try undisturbed(periods: 100)
        let first = sink.buffers[0].info
        for (index, kept) in sink.buffers.enumerated() {
            #expect(kept.info.position == UInt64(index * 480))
            #expect(kept.info.deviceSequence == UInt64(index))
            #expect(kept.info.timestamp - first.timestamp == Int64(index) * 10_000_000)
            #expect(kept.info.flags == [.keyframe, .monotonic])
        }
    }

    /// A recording with one overrun that is forced at the 20th period; another one where the machine made more.
    private func forced(_ milliseconds: Int, periods: Int, slots: Int = 256) throws -> (AudioFormat, MemorySink) {
        func once() throws -> (AudioFormat, MemorySink) {
            let controls = SyntheticControls(.audio)
            try controls.set("xrun_milliseconds", to: Int64(milliseconds))
            return try record(periods: periods, clock: SyntheticClock(speed: 2), controls: controls, slots: slots) {
                if $0 == 20 { try? controls.set("force_xrun", to: 1) }
            }
        }
        for _ in 1..<20 {
            let made = try once()
            if made.1.kept.drops == [.overrun: UInt64((milliseconds * 48 + 479) / 480)] { return made }
        }
        return try once()
    }

    @Test(arguments: [50, 15, 7])
    func `a forced overrun is filled with silence of its exact length`(_ milliseconds: Int) throws {
        let (format, sink) = try forced(milliseconds, periods: 400)
        let line = SoundLine(sink, format)
        #expect(line.silences.first?.lowerBound == 20 * 480)
        #expect(line.silences.map(\.count).reduce(0, +) == milliseconds * 48)
        #expect(sink.kept.drops == [.overrun: UInt64((milliseconds * 48 + 479) / 480)])
        // What follows stays in place: positions without a hole, times on one line, beeps on the second.
        #expect(!line.samples.contains(.min))
        let origin = sink.buffers[0].info.timestamp
        for (position, time) in line.stamps {
            #expect(abs(time - origin - Int64(position) * 1_000_000_000 / 48_000) <= 1)
        }
        for onset in line.onsets where onset > 20 * 480 + milliseconds * 48 {
            #expect((origin.nanoseconds + Int64(onset) * 1_000_000_000 / 48_000) % 1_000_000_000 == 0)
        }
    }

    @Test func `an overrun longer than half the ring jumps and fills the rest`() throws {
        let (_, sink) = try forced(1000, periods: 60, slots: 32)
        let silent = sink.buffers.filter { $0.info.flags.contains(.silence) }
        #expect(silent.count == 16)
        #expect(silent.first?.info.lostBefore == UInt32(48_000 - 16 * 480))
        #expect(silent.first?.info.position == UInt64(20 * 480 + 48_000 - 16 * 480))
        #expect(sink.kept.drops == [.overrun: 100])
    }

    @Test(arguments: [100, -100, 1000])
    func `a drifting sample clock runs away from the timestamps by its millionths`(_ ppm: Int) throws {
        let controls = SyntheticControls(.audio)
        try controls.set("clock_drift_ppm", to: Int64(ppm))
        let (format, sink) = try undisturbed(periods: 1200, speed: 50, controls: controls)
        let first = sink.buffers[0].info
        let last = sink.buffers[sink.buffers.count - 1].info
        let nominal = Double(last.position) / 48_000
        let real = Double(last.timestamp - first.timestamp) / 1e9
        #expect(abs((nominal / real - 1) * 1e6 - Double(ppm)) < 0.5)
        // A world's beep on a second is heard by the sample that is taken first from then on.
        let line = SoundLine(sink, format)
        let clock = SampleClock(rate: 48_000, start: first.timestamp, drift: Int64(ppm))
        let onsets = line.onsets.filter { $0 > 0 }
        #expect(onsets.count >= 11)
        for onset in onsets {
            let before = clock.time(of: Int64(onset) - 1).nanoseconds / 1_000_000_000
            let at = clock.time(of: Int64(onset)).nanoseconds / 1_000_000_000
            #expect(at == before + 1)
        }
    }

    @Test func `a muted microphone delivers silence in time, and beeps again afterwards`() throws {
        let controls = SyntheticControls(.audio)
        try controls.set("mute", to: 1)
        let (format, muted) = try undisturbed(periods: 220, controls: controls)
        #expect(SoundLine(muted, format).samples == [Int16](repeating: 0, count: 220 * 480))
        // It is what the microphone heard, not a gap that was filled.
        #expect(muted.buffers.allSatisfy { $0.info.flags == [.keyframe, .monotonic] })
        try controls.set("mute", to: 0)
        #expect(SoundLine(try undisturbed(periods: 220, controls: controls).1, format).onsets.count >= 2)
        #expect(controls.list().first { $0.name == "mute" }?.kind == .boolean)
        #expect(throws: CaptureError.self) { try controls.set("mute", to: 2) }
    }

    @Test func `disconnect ends the stream with a lost device`() throws {
        let controls = SyntheticControls(.audio)
        let error = #expect(throws: CaptureError.self) {
            _ = try record(periods: 1000, controls: controls) { if $0 == 3 { try? controls.set("disconnect", to: 0) } }
        }
        #expect(error?.code == .deviceLost)
    }

    @Test func `a sample clock answers both ways alike after any change of drift`() {
        var clock = SampleClock(rate: 44_100, start: Timestamp(nanoseconds: 5_000_000_000_010_000_000))
        for (turn, drift) in [0, 1000, -1000, 3].enumerated() {
            clock.setDrift(Int64(drift), from: Int64(turn) * 1_000_000_007)
            for sample in stride(from: Int64(turn) * 1_000_000_007, to: 9_000_000_000, by: 777_777_777) {
                let time = clock.time(of: sample)
                // Rounded down to the nanosecond, a sample's time is at or before it.
                #expect(clock.position(at: time) == sample)
                #expect(clock.position(at: time.advanced(by: 1)) >= sample)
            }
        }
    }
}
