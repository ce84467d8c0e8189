import CaptureCore
import CaptureOutputs
import CaptureRing
import CaptureSystem
import Glibc
import Testing

/// Pictures and sound stand where their stamps put them.
@Suite(.timeLimit(.minutes(10))) struct TimingTests {
    static let containers = Material.movies

    /// Times of an uneven camera, in nanoseconds.
    private static let uneven: [Int64] = [0, 33, 66, 180, 190, 400, 420, 1100, 1500, 1533, 2800, 2820].map {
        $0 * 1_000_000
    }

    @Test(arguments: containers) func `variable frame rate is kept`(container: String) throws {
        let format = Material.yuyv()
        let rig = try Rig(OutputDescription(name: "m", kind: .movie, format: container), video: format)
        for time in TimingTests.uneven { try rig.frame(Material.flat(90, format), at: time) }
        _ = try rig.finished(try rig.end())
        // They stand in the order of decoding.
        let times = try Probe.packets(rig.path, "v").map(\.time).sorted()
        #expect(times.count == TimingTests.uneven.count)
        for (is_, should) in zip(times, TimingTests.uneven) { #expect(abs(is_ - Double(should) / 1e9) < 0.001) }
    }

    @Test(arguments: containers) func `a night without a signal is as long in the movie`(container: String) throws {
        let format = Material.yuyv()
        let rig = try Rig(OutputDescription(name: "m", kind: .movie, format: container), video: format)
        let night: Int64 = 12 * 3600 * 1_000_000_000
        for time in [0, 33_333_333, night, night + 33_333_333] { try rig.frame(Material.flat(90, format), at: time) }
        _ = try rig.finished(try rig.end())
        let times = try Probe.packets(rig.path, "v").map(\.time).sorted()
        #expect(times.count == 4)
        #expect(abs(times[2] - 12 * 3600) < 0.001)
    }

    @Test(arguments: containers) func `a gap lengthens no file, whatever the order of its pictures`(container: String)
        throws
    {
        let format = Material.yuyv()
        let rig = try Rig(OutputDescription(name: "m", kind: .movie, format: container), video: format)
        let gap: Int64 = 5_000_000_000
        for index in 0..<40 {
            let time = Int64(index) * 33_333_333 + (index < 20 ? 0 : gap)
            try rig.frame(Material.flat(UInt8(60 + index * 3), format), at: time)
        }
        let counters = try rig.finished(try rig.end())
        let told = try #require(try Probe.values(rig.path, "-show_entries format=duration").first.flatMap(Double.init))
        #expect(abs(told - 6.333) < 0.05)
        #expect(abs(Double(counters.duration) / 1e9 - 6.333) < 0.05)
    }

    /// Where the tone begins in the decoded sound, in seconds of the file.
    private func onset(_ path: String) throws -> Double {
        let raw = Rig.temporaryPath("s16")
        defer { unsafe unlink(raw) }
        _ = try Probe.run(
            "ffmpeg -v error -i \(path) -map 0:a -af aresample=async=48000:first_pts=0 -ac 1 -ar 48000 -f s16le \(raw)"
        )
        let bytes = try Shell.bytes(raw)
        for index in stride(from: 0, to: bytes.count - 1, by: 2) {
            let sample = Int16(bitPattern: UInt16(bytes[index]) | UInt16(bytes[index + 1]) << 8)
            if abs(Int(sample)) > 4000 { return Double(index / 2) / 48000 }
        }
        throw CaptureError(.badData, "no tone")
    }

    /// Silence, then a tone from one second of the sound on; the sound begins `delay` after the picture, and periods
    /// of `lost` never come.
    private func record(_ container: String, delay: Int64, lost: ClosedRange<Int>, codec: String = "auto") throws -> Rig
    {
        let format = Material.yuyv()
        let output = OutputDescription(name: "m", kind: .movie, format: container, audioCodec: codec)
        let rig = try Rig(output, video: format, audio: Material.stereo)
        for index in 0..<60 { try rig.frame(Material.flat(90, format), at: Int64(index) * 33_333_333) }
        for index in 0..<200 where !lost.contains(index) {
            try rig.tone(index, delay: delay, isSilent: index < 100)
        }
        return rig
    }

    @Test(arguments: containers, [-40, 0, 120] as [Int64])
    func `sound and picture are in sync, whichever begins first, and with a gap`(
        container: String,
        delay: Int64
    ) throws {
        let rig = try record(container, delay: delay * 1_000_000, lost: 30...49)
        let counters = try rig.finished(try rig.end())
        #expect(counters.missedSamples == 20 * 480)
        // The file begins with its first picture: what sounded before is cut.
        #expect(counters.samples == 200 * 480 - UInt64(max(-delay, 0)) * 48)
        #expect(abs(try onset(rig.path) - (Double(delay) / 1000 + 1)) < 0.003)
        #expect(abs(try Probe.packets(rig.path, "v")[0].time) < 0.002)
    }

    @Test(arguments: containers) func `a very short file has both its streams`(container: String) throws {
        let format = Material.yuyv()
        let rig = try Rig(
            OutputDescription(name: "m", kind: .movie, format: container, duration: 20_000_000),
            video: format,
            audio: Material.stereo
        )
        // The camera needs 300 ms to deliver.
        try rig.tone(periods: 80)
        for index in 9..<20 { try rig.frame(Material.flat(90, format), at: Int64(index) * 33_333_333) }
        let counters = try rig.finished(try rig.outcome())
        #expect(counters.frames == 1)
        #expect(counters.samples == 960)
        #expect(counters.missedFrames == 0)
        #expect(counters.missedSamples == 0)
    }

    @Test func `a camera that never delivers leaves the sound, and is told`() throws {
        let rig = try Rig(
            OutputDescription(name: "m", kind: .movie, format: "mkv"),
            video: Material.yuyv(),
            audio: Material.stereo
        )
        try rig.tone(periods: 100)
        let error = try rig.fault(try rig.end())
        #expect(error.message == "the recording ended before the camera delivered a picture")
        #expect(try Probe.packets(rig.path, "a").count > 40)
    }

    @Test func `what is lost behind the end is not counted`() throws {
        let format = Material.yuyv()
        let rig = try Rig(
            OutputDescription(name: "m", kind: .movie, format: "mkv", duration: 310_000_000),
            video: format,
            slots: 8
        )
        try rig.holdClock()
        // The file begins with the first frame that arrives.
        try rig.frame(Material.flat(90, format), at: 0)
        try rig.progress { $0.frames == 1 }
        for index in 1..<9 { try rig.frame(Material.flat(90, format), at: Int64(index) * 33_333_333) }
        // The ring keeps eight at a time, so that even of these some may be lost; of the next, one belongs into the file.
        try rig.progress { $0.frames + $0.missedFrames == 9 }
        for index in 9..<200 { try rig.frame(Material.flat(90, format), at: Int64(index) * 33_333_333) }
        let counters = try rig.finished(try rig.outcome())
        #expect(counters.frames + counters.missedFrames == 10)
    }

    @Test(arguments: [
        ("mkv", "opus"), ("mkv", "flac"), ("mkv", "pcm"), ("mp4", "opus"), ("mp4", "flac"), ("mov", "pcm"),
    ])
    func `every sound codec is in sync`(container: String, codec: String) throws {
        let rig = try record(container, delay: 50_000_000, lost: 300...301, codec: codec)
        _ = try rig.finished(try rig.end())
        let tone = try onset(rig.path)
        #expect(abs(tone - 1.05) < 0.003, "\(tone)")
        #expect(try Probe.decodes(rig.path))
    }

    @Test(arguments: containers) func `a duration ends the file exactly`(container: String) throws {
        let format = Material.yuyv()
        let rig = try Rig(
            OutputDescription(name: "m", kind: .movie, format: container, audioCodec: "auto", duration: 1_500_000_000),
            video: format,
            audio: Material.stereo
        )
        try rig.holdClock()
        try rig.tone(periods: 200)
        for index in 0..<60 { try rig.frame(Material.flat(90, format), at: Int64(index) * 33_333_333) }
        let counters = try rig.finished(try rig.outcome())
        #expect(counters.frames == 46)
        #expect(counters.samples == 72_000)
        #expect(counters.duration == 1_500_000_000)
        let length = try #require(Double(try Probe.values(rig.path, "-show_entries format=duration")[0]))
        #expect(abs(length - 1.5) < 0.035)
        #expect(try Probe.packets(rig.path, "v").count == 46)
    }

    @Test func `a number of frames ends the file exactly`() throws {
        let format = Material.yuyv()
        let rig = try Rig(OutputDescription(name: "m", kind: .movie, format: "mp4", frameCount: 25), video: format)
        for index in 0..<60 { try rig.frame(Material.flat(90, format), at: Int64(index) * 33_333_333) }
        #expect(try rig.finished(try rig.outcome()).frames == 25)
        #expect(try Probe.packets(rig.path, "v").count == 25)
        let length = try #require(Double(try Probe.values(rig.path, "-show_entries format=duration")[0]))
        #expect(abs(length - 25.0 / 30) < 0.001)
    }

    /// The last report of a recorder, if it comes within so many nanoseconds.
    private func outcome(_ rig: Rig, within limit: Int64) throws -> RecorderReport? {
        let end = Timestamp.now.advanced(by: limit)
        while Timestamp.now < end {
            if try Poll.wait(rig.socket.file.descriptor, timeout: 20).isEmpty { continue }
            switch try rig.next() {
            case .finished(let counters): return .finished(counters)
            case .failed(let error, let counters): return .failed(error, counters)
            default: continue
            }
        }
        return nil
    }

    @Test(arguments: [OutputKind.movie, .frames], [false, true])
    func `a camera that falls silent does not keep a limit from ending the output on time`(
        kind: OutputKind,
        hasSound: Bool
    ) throws {
        if kind == .frames, hasSound { return }
        let format = Material.yuyv()
        let output = OutputDescription(
            name: "m",
            kind: kind,
            format: kind == .movie ? "mkv" : "y4m",
            duration: 2_000_000_000
        )
        let rig = try Rig(output, video: format, audio: hasSound ? Material.stereo : nil)
        let begun = Timestamp.now
        if hasSound { try rig.tone(periods: 100) }
        for index in 0..<30 { try rig.frame(Material.flat(90, format), at: Int64(index) * 33_333_333) }
        let counters = try rig.finished(try rig.outcome())
        #expect(Timestamp.now - begun > 2_000_000_000)
        // No ring ends, so nothing else can end it. A test that is held up publishes less in time.
        #expect(counters.reachedLimit == .duration && (1...30).contains(counters.frames))
        #expect(try Probe.decodes(rig.path))
    }

    @Test func `pictures that cannot be decoded end the recording`() throws {
        let format = Material.compressed(.mjpeg)
        let rig = try Rig(OutputDescription(name: "m", kind: .movie, format: "mkv", videoCodec: "h264"), video: format)
        var report: RecorderReport?
        var index: Int64 = 0
        while report == nil {
            try rig.frame([0xFF, 0xD8, 0x00, 0x11, 0xFF, 0xD9], at: index * 33_333_333)
            index += 1
            report = try outcome(rig, within: 30_000_000)
        }
        let error = try rig.fault(try #require(report))
        #expect(error.code.exitCode == 74)
        #expect(error.message.hasPrefix("the camera delivers only damaged frames"))
    }

    @Test func `a microphone that stands still does not keep a limit from ending the file, and is told`() throws {
        let format = Material.yuyv()
        let rig = try Rig(
            OutputDescription(name: "m", kind: .movie, format: "mkv", duration: 1_000_000_000),
            video: format,
            audio: Material.stereo
        )
        try rig.holdClock()
        for index in 0..<60 { try rig.frame(Material.flat(90, format), at: Int64(index) * 33_333_333) }
        try rig.progress { $0.frames == 31 }
        try rig.socket.send(RecorderCommand.resume(at: .now).text)
        guard case .failed(let error, let counters) = try rig.outcome() else {
            throw CaptureError(.internalFault, "\(rig.reports)")
        }
        #expect(error.message == "the recording ended before the microphone delivered sound")
        #expect(counters.frames == 31)
        #expect(try Probe.packets(rig.path, "v").count == 31)
    }

    @Test func `a sound clock that runs fast is reported`() throws {
        let rig = try Rig(OutputDescription(name: "s", kind: .sound, format: "wav"), audio: Material.stereo)
        let nothing = [UInt8](repeating: 0, count: Material.stereo.periodBytes)
        for index in 0..<1000 {
            // 100 ppm fast: a period lasts 999 900 ns less than ten million, with some noise.
            let jitter = Int64((index * 7919) % 200_000) - 100_000
            try rig.period(nothing, at: Int64(index) * 9_999_000 + jitter, position: UInt64(index * 480))
        }
        let counters = try rig.finished(try rig.end())
        #expect(abs(counters.drift - 100) <= 3)
    }

    @Test(arguments: [10, 40])
    func `a recording goes on in the ring it is handed, and tells what was overwritten there`(count: Int) throws {
        let format = Material.yuyv()
        let rig = try Rig(OutputDescription(name: "m", kind: .movie, format: "mkv"), video: format)
        for index in 0..<10 { try rig.frame(Material.flat(90, format), at: Int64(index) * 33_333_333) }
        let next = try RingWriter(format: .video(format), slots: 32, kept: 2, name: "next")
        rig.video?.finish(.moved)
        let later = try Rig.publish(Material.flat(90, format), to: next, from: 10, count: count)
        #expect(later == 10 + count)
        let missed = max(0, count - 32)
        try rig.socket.send(RecorderCommand.videoMoved.text, with: [next.file])
        next.finish(.stopped)
        let counters = try rig.finished(try rig.outcome())
        #expect((counters.frames, counters.missedFrames) == (UInt64(later - missed), UInt64(missed)))
        #expect(try Probe.packets(rig.path, "v").count == later - missed)
    }
}

extension Rig {
    /// Publishes frames at 30 a second.
    static func publish(_ bytes: [UInt8], to ring: RingWriter, from: Int, count: Int) throws -> Int {
        for index in from..<(from + count) {
            guard let slot = ring.claim() else { throw CaptureError(.internalFault, "no slot") }
            unsafe ring.memory(ofSlot: slot).copyBytes(from: bytes)
            ring.publish(
                slot,
                BufferInfo(
                    timestamp: Rig.epoch.advanced(by: Int64(index) * 33_333_333),
                    deviceSequence: UInt64(index),
                    bytesUsed: (bytes.count, 0, 0, 0),
                    flags: [.monotonic, .keyframe]
                )
            )
        }
        return from + count
    }
}
