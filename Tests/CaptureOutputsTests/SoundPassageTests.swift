import CaptureCore
import CaptureSystem
import Glibc
import Testing
@testable import CaptureOutputs

/// Gain, channels and levels of sound.
@Suite struct `Sound on its way into an output` {
    private static let mono = AudioFormat(sampleFormat: .s16, sampleRate: 48000, channels: 1, periodFrames: 480)

    /// Periods of samples that are all the same, after their passage.
    private func passed(_ passage: SoundPassage, _ periods: Int, of sample: Int16 = 10_000) throws -> [Int16] {
        try SoundPeriods.passed(0..<periods, of: sample, through: passage.take)
    }

    @Test func `becomes louder over 5 ms, without a step`() throws {
        let passage = SoundPassage(Self.mono, gain: 0, RecorderCounters())
        var found = try passed(passage, 5)
        #expect(found.allSatisfy { $0 == 10_000 })
        passage.setGain(20 * log10(2))
        found += try passed(passage, 5)
        #expect(found[2400 + 240] == 20_000 && found.last == 20_000)
        #expect(zip(found, found.dropFirst()).allSatisfy { 0...43 ~= $1 - $0 })
        // Back, and forth again in the midst of the ramp.
        passage.setGain(-60)
        found = [20_000] + (try passed(passage, 5))
        #expect(found.last == 10)
        #expect(zip(found, found.dropFirst()).allSatisfy { -85...0 ~= $1 - $0 })
    }

    @Test(arguments: [Int16(10_000), -10_000]) func `is cut at full scale`(sample: Int16) throws {
        let passage = SoundPassage(Self.mono, gain: 40, RecorderCounters())
        #expect(try passed(passage, 1, of: sample).allSatisfy { $0 == (sample > 0 ? .max : .min) })
    }

    @Test(arguments: SampleFormat.allCases) func `is measured in each format`(samples: SampleFormat) {
        let format = AudioFormat(sampleFormat: samples, sampleRate: 1000, channels: 2, periodFrames: 100)
        var levels = SoundLevels(format)
        // The left a square wave at a quarter of full scale, the right nothing.
        var bytes: [UInt8] = []
        for frame in 0..<100 {
            let sign = frame % 2 == 0 ? 1 : -1
            switch samples {
            case .s16: unsafe withUnsafeBytes(of: Int16(sign * 8192)) { unsafe bytes += $0 }
            case .s24Packed: unsafe withUnsafeBytes(of: Int32(sign * 2_097_152)) { unsafe bytes += $0.prefix(3) }
            case .s32: unsafe withUnsafeBytes(of: Int32(sign * 536_870_912)) { unsafe bytes += $0 }
            case .float32: unsafe withUnsafeBytes(of: Float(sign) / 4) { unsafe bytes += $0 }
            }
            bytes += [UInt8](repeating: 0, count: samples.bytes)
        }
        var found: [[AudioLevel]] = []
        unsafe bytes.withUnsafeBytes { bytes in unsafe levels.take(bytes) { found.append($0) } }
        let quarter = AudioLevel(average: -12.04, peak: -12.04)
        #expect(found == [[quarter, AudioLevel()], [quarter, AudioLevel()]])
        levels.takeSilence(120) { found.append($0) }
        #expect(found.count == 4 && found.last == [AudioLevel(), AudioLevel()])
    }

    /// A WAV file of a tone on the left and nothing on the right.
    private func recorded(_ settings: ConnectionSettings, _ body: (Rig) throws -> Void = { _ in }) throws -> (
        Rig, OutputStatistics
    ) {
        var output = OutputDescription(name: "s", kind: .sound, format: "wav")
        output.settings = settings
        let rig = try Rig(output, audio: Material.stereo)
        try body(rig)
        for index in 0..<100 { try left(rig, index) }
        return (rig, try rig.finished(try rig.end()))
    }

    private func left(_ rig: Rig, _ index: Int) throws {
        var bytes = Material.tone(Material.stereo, position: UInt64(index * 480))
        for frame in 0..<480 { (bytes[4 * frame + 2], bytes[4 * frame + 3]) = (0, 0) }
        try rig.period(bytes, at: Int64(index) * 10_000_000, position: UInt64(index * 480))
    }

    private static let tone = AudioLevel(average: -9.03, peak: -6.02)

    @Test(arguments: [
        ([Int](), [tone, AudioLevel()]), ([0], [tone]), ([1], [AudioLevel()]), ([1, 0], [AudioLevel(), tone]),
    ])
    func `has the channels that were chosen, in their order`(channels: [Int], levels: [AudioLevel]) throws {
        var settings = ConnectionSettings()
        settings.channels = channels
        let (rig, counters) = try recorded(settings)
        #expect(counters.samples == 48_000)
        #expect(counters.levels == levels)
        #expect(try Probe.values(rig.path, "-show_entries stream=channels") == ["\(levels.count)"])
        let bytes = try Shell.bytes(rig.path).suffix(48_000 * 2 * levels.count)
        for (channel, level) in levels.enumerated() {
            let loudest = stride(from: bytes.startIndex + 2 * channel, to: bytes.endIndex, by: 2 * levels.count).map {
                abs(Int(Int16(truncatingIfNeeded: Int(bytes[$0]) | Int(bytes[$0 + 1]) << 8)))
            }.max()
            #expect(loudest == (level == AudioLevel() ? 0 : 16384))
        }
    }

    @Test(arguments: ["m4a", "opus", "flac", "wav"], [Float.nan, .infinity, -.infinity, 1e30])
    func `goes on after a sample that is not a number, or far too large`(format: String, sample: Float) throws {
        let source = AudioFormat(sampleFormat: .float32, sampleRate: 48000, channels: 2, periodFrames: 480)
        let rig = try Rig(OutputDescription(name: "s", kind: .sound, format: format), audio: source)
        for index in 0..<100 {
            var samples = (0..<960).map { 0.25 * sin(Float($0 / 2) * 0.1) }
            if index == 50 { samples[77] = sample }
            try rig.period(
                unsafe samples.withUnsafeBytes { unsafe Array($0) },
                at: Int64(index) * 10_000_000,
                position: UInt64(index * 480)
            )
        }
        #expect(try rig.finished(try rig.end()).samples == 48_000)
    }

    @Test func `of a channel that the microphone lacks is an error that tells how many it has`() throws {
        var output = OutputDescription(name: "s", kind: .sound, format: "wav")
        output.settings.channels = [0, 2]
        let rig = try Rig(output, audio: Material.stereo)
        let error = try rig.fault(try rig.outcome())
        #expect(error.code == .invalidArgument && error.message.contains("has only 2 channels"))
    }

    @Test(arguments: Material.movies + Material.sounds) func `is made louder in each file`(format: String) throws {
        let isMovie = Material.movies.contains(format)
        var output = OutputDescription(name: "o", kind: isMovie ? .movie : .sound, format: format)
        output.settings.gain = -20
        let rig = try Rig(output, audio: Material.stereo)
        try rig.tone(periods: 100)
        #expect(
            try rig.finished(try rig.end()).levels
                == [AudioLevel](repeating: AudioLevel(average: -29.03, peak: -26.02), count: 2)
        )
        let said = try Probe.run("(ffmpeg -hide_banner -i \(rig.path) -af volumedetect -f null - 2>&1)")
        let mean = try #require(said.firstMatch(of: /mean_volume: (-[0-9.]+) dB/).flatMap { Double($0.1) })
        #expect(abs(mean + 29) < 0.6)
    }

    @Test func `tells its levels to those who ask, and no longer`() throws {
        var told: [[AudioLevel]] = []
        func levels(_ rig: Rig) -> Int { rig.reports.count { if case .levels = $0 { true } else { false } } }
        let (rig, _) = try recorded(ConnectionSettings()) { rig in
            try rig.socket.send(RecorderCommand.watchLevels(true).text)
            // Of two reports after a command, one is later than its being heard.
            for _ in 0..<2 { try rig.progress { _ in true } }
            for index in 0..<10 { try left(rig, index) }
            while told.isEmpty { if case .levels(let levels) = try rig.next() { told.append(levels) } }
            try rig.socket.send(RecorderCommand.watchLevels(false).text)
            for _ in 0..<2 { try rig.progress { _ in true } }
        }
        #expect(told == [[Self.tone, AudioLevel()]])
        let before = rig.reports.lastIndex { if case .levels = $0 { true } else { false } } ?? 0
        #expect(rig.reports[before...].count > 2, "\(levels(rig)) reports of levels")
    }

    @Test func `of a disabled microphone is silent`() throws {
        let output = OutputDescription(name: "s", kind: .sound, format: "wav")
        let rig = try Rig(output, audio: Material.stereo, disabled: [.audio])
        try rig.tone(periods: 50)
        #expect(try rig.finished(try rig.end()).levels == [AudioLevel(), AudioLevel()])
    }
}
