import CaptureCore
import CaptureSystem
import Glibc
import Testing

@testable import CaptureOutputs

/// What a disabled connection brings is not in the file, which goes on.
@Suite(.timeLimit(.minutes(10))) struct `A disabled connection` {
    private static let mono = AudioFormat(sampleFormat: .s16, sampleRate: 48000, channels: 1, periodFrames: 480)
    /// Sample frames that fade at each side.
    private static let faded = 240

    private func gained(_ gate: ConnectionGate, _ range: Range<Int>) throws -> [Int16] {
        try SoundPeriods.passed(range) { gate.silence($0, Self.mono) }
    }

    @Test func `is silent to the sample, and fades at both sides`() throws {
        let gate = ConnectionGate(disabled: [])
        // In the midst of periods.
        var found = try gained(gate, 0..<50)
        gate.set(.audio, isEnabled: false, at: Timestamp(nanoseconds: 603_000_000))
        found += try gained(gate, 50..<80)
        gate.set(.audio, isEnabled: true, at: Timestamp(nanoseconds: 907_000_000))
        found += try gained(gate, 80..<120)
        let silent = 28_944..<43_536
        #expect(found[silent].allSatisfy { $0 == 0 })
        #expect(found[..<(silent.lowerBound - Self.faded)].allSatisfy { $0 == 10_000 })
        #expect(found[(silent.upperBound + Self.faded)...].allSatisfy { $0 == 10_000 })
        #expect(zip(found, found.dropFirst()).allSatisfy { abs(Int($0) - Int($1)) <= 50 })
    }

    @Test func `that is told late leaves what was taken as it is`() throws {
        let gate = ConnectionGate(disabled: [])
        var found = try gained(gate, 0..<50)
        gate.set(.audio, isEnabled: false, at: Timestamp(nanoseconds: 100_000_000))
        gate.set(.audio, isEnabled: false, at: Timestamp(nanoseconds: 100_000_000))
        found += try gained(gate, 50..<60)
        gate.set(.audio, isEnabled: true, at: Timestamp(nanoseconds: 200_000_000))
        found += try gained(gate, 60..<70)
        #expect(found[..<24_000].allSatisfy { $0 == 10_000 })
        #expect(found[24_240..<28_800].allSatisfy { $0 == 0 })
        #expect(found[29_040...].allSatisfy { $0 == 10_000 })
    }

    @Test func `stays disabled when it is switched without end while nothing comes`() throws {
        let gate = ConnectionGate(disabled: [.video])
        for moment in 0..<5000 {
            gate.set(.video, isEnabled: moment % 2 == 0, at: Timestamp(nanoseconds: Int64(moment)))
        }
        // The last of them would have enabled it.
        gate.set(.video, isEnabled: true, at: Timestamp(nanoseconds: 5000))
        let pool = try BufferPool(count: 1, capacity: 960)
        let info = BufferInfo(
            timestamp: Timestamp(nanoseconds: 9000),
            deviceSequence: 0,
            position: 0,
            bytesUsed: (960, 0, 0, 0),
            flags: .monotonic
        )
        let frame = MediaBuffer(try #require(pool.take()), of: pool, count: 960, info: info)
        #expect(gate.look(at: frame) == .withheld)
    }

    @Test(arguments: [Int64.min, -1, .max]) func `takes any time that a ring can say`(time: Int64) throws {
        let gate = ConnectionGate(disabled: [.video, .audio])
        let pool = try BufferPool(count: 2, capacity: 960)
        let info = BufferInfo(
            timestamp: Timestamp(nanoseconds: time),
            deviceSequence: 0,
            position: 0,
            bytesUsed: (960, 0, 0, 0),
            flags: .monotonic
        )
        let buffer = MediaBuffer(try #require(pool.take()), of: pool, count: 960, info: info)
        #expect(gate.look(at: buffer) == .withheld)
        gate.silence(buffer, Self.mono)
        #expect(unsafe buffer.bytes.allSatisfy { $0 == 0 })
        gate.set(.audio, isEnabled: true, at: .now)
        gate.silence(buffer, Self.mono)
    }

    /// Sends a command, and returns when the recorder has heard it: of two reports, one is later.
    private func tell(_ rig: Rig, _ command: RecorderCommand) throws {
        try rig.socket.send(command.text)
        for _ in 0..<2 { try rig.progress { _ in true } }
    }

    @Test func `of a microphone, from the start, is silence of full length`() throws {
        let output = OutputDescription(name: "s", kind: .sound, format: "wav")
        let rig = try Rig(output, audio: Material.stereo, disabled: [.audio])
        func record(_ range: Range<Int>) throws {
            for index in range { try rig.tone(index) }
        }
        try record(0..<100)
        try rig.progress { $0.samples == 48_000 }
        try tell(rig, .enable(.audio, at: Rig.epoch.advanced(by: 1_500_000_000)))
        try record(100..<300)
        #expect(try rig.finished(try rig.end()).samples == 144_000)
        let said = try Probe.run(
            "(ffmpeg -hide_banner -i \(rig.path) -af silencedetect=n=-60dB:d=0.3 -f null - 2>&1)"
        )
        let end = try #require(said.firstMatch(of: /silence_end: ([0-9.]+)/).flatMap { Double($0.1) })
        #expect(abs(end - 1.5) < 0.005)
        #expect(said.matches(of: /silence_end/).count == 1)
    }

    @Test(arguments: Material.movies) func `of a camera leaves its pictures out, at their times`(
        container: String
    ) throws {
        let format = Material.yuyv()
        let output = OutputDescription(name: "m", kind: .movie, format: container)
        let rig = try Rig(output, video: format, audio: Material.stereo)
        func record(_ frames: Range<Int>) throws {
            for index in frames {
                try rig.frame(Material.flat(128, format), at: Int64(index) * 40_000_000)
                for place in index * 4..<index * 4 + 4 {
                    try rig.tone(place)
                }
            }
        }
        try record(0..<25)
        try rig.progress { $0.frames == 25 }
        try tell(rig, .disable(.video, at: Rig.epoch.advanced(by: 1_210_000_000)))
        try record(25..<75)
        try tell(rig, .enable(.video, at: Rig.epoch.advanced(by: 3_330_000_000)))
        try record(75..<125)
        let counters = try rig.finished(try rig.end())
        // Frames 0 to 30 and 84 to 124.
        #expect(counters.frames == 31 + 41)
        #expect(counters.missedFrames == 0 && counters.missedSamples == 0)
        let times = try Probe.packets(rig.path, "v").map(\.time).sorted()
        #expect(times.count == 72)
        #expect(abs(times[31] - times[30] - 54 * 0.04) < 0.002)
        #expect(abs(Double(counters.samples) / 48_000 - 5) < 0.03)
        #expect(try Probe.decodes(rig.path))
    }

    @Test func `of a camera that is never enabled leaves a movie of sound`() throws {
        let output = OutputDescription(name: "m", kind: .movie, format: "mkv")
        let rig = try Rig(output, video: Material.yuyv(), audio: Material.stereo, disabled: [.video])
        for index in 0..<75 {
            try rig.frame(Material.flat(128, Material.yuyv()), at: Int64(index) * 40_000_000)
            for place in index * 4..<index * 4 + 4 {
                try rig.tone(place)
            }
        }
        try rig.progress { $0.samples > 96_000 }
        let counters = try rig.finished(try rig.end())
        #expect(counters.frames == 0 && counters.samples == 144_000)
        #expect(try Probe.packets(rig.path, "v").isEmpty)
    }

    @Test func `of a camera whose stream is copied is refused from the beginning`() throws {
        let output = OutputDescription(name: "m", kind: .movie, format: "mkv")
        let rig = try Rig(output, video: Material.compressed(.h264), disabled: [.video])
        #expect(try rig.fault(try rig.ready()).code == .invalidArgument)
    }
}
