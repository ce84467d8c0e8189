import CaptureCore
import CaptureOutputs
import CaptureRing
import CaptureSystem
import Glibc
import Testing

/// What is captured in a pause is not in the file, and everything else is.
@Suite(.timeLimit(.minutes(10))) struct `A pause` {
    /// Sample frames around a cut that are quieter than they came.
    private static let faded = 240
    private static let mono = AudioFormat(sampleFormat: .s16, sampleRate: 48000, channels: 1, periodFrames: 480)

    /// Sound in which each sample tells its own place, never 0.
    private func counting(_ position: Int) -> Int16 { Int16(truncatingIfNeeded: position % 30_000 + 1) }

    private func period(_ index: Int) -> [UInt8] {
        (0..<480).flatMap { frame -> [UInt8] in
            let sample = UInt16(bitPattern: counting(index * 480 + frame))
            return [UInt8(truncatingIfNeeded: sample), UInt8(truncatingIfNeeded: sample >> 8)]
        }
    }

    private func record(_ rig: Rig, _ periods: Range<Int>) throws {
        for index in periods {
            try rig.period(period(index), at: Int64(index) * 10_000_000, position: UInt64(index * 480))
        }
    }

    private func samples(_ path: String) throws -> [Int16] {
        let bytes = try Shell.bytes(path)
        let data = try #require(bytes.indices.dropLast(4).first { bytes[$0..<$0 + 4].elementsEqual("data".utf8) }) + 8
        return stride(from: data, to: bytes.count - 1, by: 2).map {
            Int16(bitPattern: UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8)
        }
    }

    private func command(_ rig: Rig, _ isPause: Bool, at nanoseconds: Int64) throws {
        let time = Rig.epoch.advanced(by: nanoseconds)
        try rig.socket.send((isPause ? RecorderCommand.pause(at: time) : .resume(at: time)).text)
        try rig.progress { $0.isPaused == isPause }
    }

    @Test func `leaves out sound to the sample, and fades at the cut alone`() throws {
        let rig = try Rig(OutputDescription(name: "s", kind: .sound, format: "wav"), audio: Self.mono)
        try record(rig, 0..<100)
        try rig.progress { $0.samples == 48_000 }
        // In the midst of a period, as is the end.
        try command(rig, true, at: 1_503_000_000)
        try record(rig, 100..<300)
        try rig.progress { $0.samples == 72_144 }
        try command(rig, false, at: 3_256_000_000)
        try record(rig, 300..<500)
        let counters = try rig.finished(try rig.end())
        let kept = Array(0..<72_144) + Array(156_288..<240_000)
        #expect(counters.samples == UInt64(kept.count))
        #expect(counters.missedSamples == 0)
        let found = try samples(rig.path)
        try #require(found.count == kept.count)
        let cut = 72_144 - Self.faded..<72_144 + Self.faded
        #expect(zip(kept, found).enumerated().allSatisfy { cut.contains($0) || $1.1 == counting($1.0) })
        // It goes down to nothing and up again, and never jumps.
        #expect(abs(Int(found[72_143])) < 200 && abs(Int(found[72_144])) < 200)
        for at in cut { #expect(abs(Int(found[at]) - Int(found[at - 1])) < 300) }
    }

    @Test func `is cut the same way many times, whatever the moments`() throws {
        let rig = try Rig(OutputDescription(name: "s", kind: .sound, format: "wav"), audio: Self.mono)
        var random = SystemRandomNumberGenerator()
        var index = 0
        var kept: [Range<Int>] = []
        var start = 0
        /// The first sample of a time.
        func sample(_ time: Int64) -> Int { Int((time * 48_000 + 999_999_999) / 1_000_000_000) }
        for _ in 0..<15 {
            let pause = Int64(index) * 10_000_000 + Int64.random(in: 6_000_000...40_000_000, using: &random)
            let resume = pause + Int64.random(in: 0...60_000_000, using: &random)
            try command(rig, true, at: pause)
            try command(rig, false, at: resume)
            kept.append(start..<sample(pause))
            start = sample(resume)
            try record(rig, index..<index + 12)
            index += 12
            let end = UInt64(kept.reduce(0) { $0 + $1.count } + index * 480 - start)
            try rig.progress { $0.samples == end }
        }
        kept.append(start..<index * 480)
        _ = try rig.finished(try rig.end())
        let found = try samples(rig.path)
        let should = kept.flatMap { range in
            range.map { (place: $0, isFaded: min($0 - range.lowerBound, range.upperBound - 1 - $0) <= Self.faded) }
        }
        try #require(found.count == should.count)
        #expect(zip(should, found).allSatisfy { $0.isFaded || $1 == counting($0.place) })
    }

    @Test func `that comes late loses nothing that was written, and nothing twice`() throws {
        let rig = try Rig(OutputDescription(name: "s", kind: .sound, format: "wav"), audio: Self.mono)
        try record(rig, 0..<100)
        try rig.progress { $0.samples == 48_000 }
        // Both name times that are over. One period comes in the pause: its fade tells that it was read.
        try command(rig, true, at: 500_000_000)
        try record(rig, 100..<101)
        try rig.progress { $0.samples == 48_240 }
        try command(rig, false, at: 600_000_000)
        try record(rig, 101..<201)
        let counters = try rig.finished(try rig.end())
        let kept = Array(0..<48_240) + Array(48_480..<96_480)
        #expect(counters.samples == UInt64(kept.count) && counters.missedSamples == 0)
        let cut = 48_000..<48_480
        #expect(zip(kept, try samples(rig.path)).enumerated().allSatisfy { cut.contains($0) || $1.1 == counting($1.0) })
    }

    @Test(arguments: Material.movies) func `closes the timeline of a movie, and sound stays with its pictures`(
        container: String
    ) throws {
        let format = Material.yuyv()
        let output = OutputDescription(name: "m", kind: .movie, format: container)
        let rig = try Rig(output, video: format, audio: Material.stereo)
        let frame: Int64 = 40_000_000
        /// A second of bright pictures and tone at four seconds, of which nothing before is.
        func record(_ seconds: Range<Int>) throws {
            for index in seconds.lowerBound * 25..<seconds.upperBound * 25 {
                let isLoud = index / 25 == 4
                try rig.frame(Material.flat(isLoud ? 235 : 16, format), at: Int64(index) * frame)
                for part in 0..<4 { try rig.tone(index * 4 + part, isSilent: !isLoud) }
            }
        }
        try record(0..<1)
        try rig.progress { $0.frames == 25 && $0.samples == 48_000 }
        try command(rig, true, at: 1_210_000_000)
        try record(1..<3)
        try command(rig, false, at: 3_330_000_000)
        try record(3..<6)
        let counters = try rig.finished(try rig.end())
        // Frames 0 to 30 and 84 to 149.
        #expect(counters.frames == 31 + 66)
        #expect(counters.missedFrames == 0 && counters.missedSamples == 0)
        #expect(abs(Double(counters.duration) / 1e9 - (6 - 2.12)) < 0.03)
        let times = try Probe.packets(rig.path, "v").map(\.time).sorted()
        #expect(times.count == 97)
        let steps = zip(times.dropFirst(), times).map { $0 - $1 }
        #expect(steps.allSatisfy { $0 > 0 && $0 < 0.08 })
        // Both begin at four seconds, of which the pause took 2.12.
        let said = try Probe.run(
            "(ffmpeg -hide_banner -i \(rig.path) -vf blackdetect=d=0.3:pix_th=0.2 -af silencedetect=n=-40dB:d=0.3 -f null - 2>&1)"
        )
        func first(_ pattern: Regex<(Substring, Substring)>) throws -> Double {
            try #require(said.firstMatch(of: pattern).flatMap { Double($0.1) })
        }
        #expect(abs(try first(/black_end:([0-9.]+)/) - 1.88) < 0.045)
        #expect(abs(try first(/silence_end: ([0-9.]+)/) - 1.88) < 0.03)
        #expect(try Probe.decodes(rig.path))
    }

    /// Frames of H.264 with a keyframe every so many.
    private func h264(_ count: Int, keyEvery interval: Int) throws -> [[UInt8]] {
        let path = Rig.temporaryPath("h264")
        defer { unsafe unlink(path) }
        _ = try Probe.run(
            "ffmpeg -v error -f lavfi -i testsrc=size=320x240:rate=30 -frames:v \(count) -pix_fmt yuv420p -c:v libx264 "
                + "-g \(interval) -bf 0 -x264-params sliced-threads=0:scenecut=0:repeat-headers=1 -threads 1 -f h264 \(path)"
        )
        let frames = AccessUnits.of(try Shell.bytes(path))
        try #require(frames.count == count)
        return frames
    }

    /// Records them but for those from 1.51 to 2.35 seconds.
    private func paused(_ frames: [[UInt8]]) throws -> (Rig, OutputStatistics) {
        let output = OutputDescription(name: "m", kind: .movie, format: "mkv")
        let rig = try Rig(output, video: Material.compressed(.h264), slots: 512)
        func record(_ range: Range<Int>) throws {
            for index in range { try rig.frame(frames[index], at: Int64(index) * 33_333_333, flags: .monotonic) }
        }
        try record(0..<45)
        try rig.progress { $0.frames >= 44 }
        try command(rig, true, at: 1_510_000_000)
        try record(45..<70)
        try command(rig, false, at: 2_350_000_000)
        try record(70..<frames.count)
        return (rig, try rig.finished(try rig.end()))
    }

    @Test func `of a copied stream ends with a keyframe`() throws {
        let (rig, counters) = try paused(try h264(120, keyEvery: 30))
        let packets = try Probe.packets(rig.path, "v")
        // Of 0 to 45, and of 71 to 119 those from the keyframe 90 on.
        #expect(packets.count == 46 + 30)
        #expect(packets.filter(\.isKey).count == 3)
        #expect(counters.missedFrames == 19)
        #expect(try Probe.decodes(rig.path))
    }

    @Test func `of a copied stream without further keyframes ends after five seconds`() throws {
        let (rig, counters) = try paused(try h264(300, keyEvery: 1000))
        // Of 71 to 299, those from 222 on: the first that comes five seconds after 71.
        #expect(try Probe.packets(rig.path, "v").count == 46 + 78)
        #expect(counters.missedFrames == 151)
    }

    @Test func `does not count towards a duration`() throws {
        let output = OutputDescription(name: "s", kind: .sound, format: "wav", duration: 2_000_000_000)
        let rig = try Rig(output, audio: Self.mono)
        // The clock reaches this pause at once; the sound reaches it later.
        try command(rig, true, at: 1_100_000_000)
        try record(rig, 0..<100)
        try rig.progress { $0.samples == 48_000 }
        // There are four reports a second: by the clock, it would be over.
        for _ in 0..<12 { try rig.progress { $0.isPaused } }
        try record(rig, 100..<400)
        try rig.progress { $0.samples == 52_800 }
        // By the clock the pause lasts for another day, so what follows may be late.
        let end = Int((Timestamp.now - Rig.epoch) / 10_000_000) + 8_640_000
        try command(rig, false, at: Int64(end) * 10_000_000)
        try record(rig, end..<end + 200)
        #expect(try rig.finished(try rig.outcome()).samples == 96_000)
    }

    @Test(arguments: SampleFormat.allCases) func `fades samples of each format`(samples: SampleFormat) throws {
        let format = AudioFormat(sampleFormat: samples, sampleRate: 48000, channels: 2, periodFrames: 480)
        let rig = try Rig(OutputDescription(name: "s", kind: .sound, format: "wav"), audio: format)
        let half: [UInt8] =
            switch samples {
            case .s16: [0, 0x40]
            case .s24Packed: [0, 0, 0xc0]
            case .s32: [0, 0, 0, 0x40]
            case .float32: [0, 0, 0, 0xbf]
            }
        let bytes = (0..<960).flatMap { _ in half }
        for index in 0..<50 { try rig.period(bytes, at: Int64(index) * 10_000_000, position: UInt64(index * 480)) }
        try rig.progress { $0.samples == 24_000 }
        try command(rig, true, at: 600_000_000)
        for index in 50..<100 { try rig.period(bytes, at: Int64(index) * 10_000_000, position: UInt64(index * 480)) }
        try command(rig, false, at: 900_000_000)
        for index in 100..<150 { try rig.period(bytes, at: Int64(index) * 10_000_000, position: UInt64(index * 480)) }
        _ = try rig.finished(try rig.end())
        let said = try Probe.run("(ffmpeg -hide_banner -i \(rig.path) -af volumedetect -f null - 2>&1)")
        #expect(said.contains("max_volume: -6.0 dB"))
    }
}

/// The frames of an H.264 byte stream, one slice each.
private enum AccessUnits {
    static func of(_ bytes: [UInt8]) -> [[UInt8]] {
        var starts: [Int] = []
        var index = 0
        while index + 3 < bytes.count {
            if bytes[index] == 0, bytes[index + 1] == 0, bytes[index + 2] == 1 {
                starts.append(index)
                index += 3
            } else {
                index += 1
            }
        }
        var units: [[UInt8]] = []
        var unit: [UInt8] = []
        for (number, start) in starts.enumerated() {
            let end = number + 1 < starts.count ? starts[number + 1] : bytes.count
            unit += [0] + bytes[start..<end]
            // A coded slice ends its picture.
            if [1, 5].contains(bytes[start + 3] & 31) {
                units.append(unit)
                unit = []
            }
        }
        return units
    }
}
