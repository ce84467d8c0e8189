import CaptureCore
import CaptureSystem
import Glibc
import Testing

/// Files are what the programs that open them expect.
@Suite struct FileTests {
    // MARK: WAV

    /// A tenth of a second of WAV in a format.
    private func wav(_ samples: SampleFormat, channels: Int) throws -> Rig {
        let format = AudioFormat(sampleFormat: samples, sampleRate: 48000, channels: channels, periodFrames: 480)
        let rig = try Rig(OutputDescription(name: "s", kind: .sound, format: "wav"), audio: format)
        let bytes = [UInt8](repeating: 0, count: format.periodBytes)
        for index in 0..<10 { try rig.period(bytes, at: Int64(index) * 10_000_000, position: UInt64(index * 480)) }
        #expect(try rig.finished(try rig.end()).samples == 4800)
        return rig
    }

    /// The body of a RIFF chunk.
    private func chunk(_ name: String, of path: String) throws -> [UInt8]? {
        let bytes = try Shell.bytes(path)
        var at = 12
        while at + 8 <= bytes.count {
            let size = (0..<4).reduce(0) { $0 | Int(bytes[at + 4 + $1]) << (8 * $1) }
            if bytes[at..<at + 4].elementsEqual(name.utf8) {
                return Array(bytes[at + 8..<min(at + 8 + size, bytes.count)])
            }
            at += 8 + size + size & 1
        }
        return nil
    }

    @Test(arguments: [1, 2]) func `16-bit WAV of one or two channels is plain PCM, which Python reads`(
        channels: Int
    ) throws {
        let rig = try wav(.s16, channels: channels)
        let format = try #require(try chunk("fmt ", of: rig.path))
        #expect(format.count == 16)
        #expect(Array(format.prefix(2)) == [1, 0])
        let read = try Probe.run(
            "python3 -c 'import sys, wave; print(wave.open(sys.argv[1]).getparams()[:4])' \(rig.path)"
        )
        #expect(read == "(\(channels), 2, 48000, 4800)\n")
    }

    @Test(arguments: [(SampleFormat.s16, 6), (.s24Packed, 2), (.s32, 2), (.float32, 1)])
    func `WAV of more channels or bits is extensible`(samples: SampleFormat, channels: Int) throws {
        let rig = try wav(samples, channels: channels)
        #expect(Array(try #require(try chunk("fmt ", of: rig.path)).prefix(2)) == [0xfe, 0xff])
        #expect(try Probe.decodes(rig.path))
    }

    @Test func `float WAV counts its samples in a fact chunk`() throws {
        let rig = try wav(.float32, channels: 2)
        #expect(try chunk("fact", of: rig.path) == [0xc0, 0x12, 0, 0])
    }

    // MARK: Pictures

    @Test func `Y4M repeats the last picture for those that were lost`() throws {
        let format = Material.yuyv()
        let rig = try Rig(OutputDescription(name: "f", kind: .frames, format: "y4m"), video: format)
        let kept = [0, 1, 2, 3, 7, 8, 9]
        for index in kept {
            try rig.frame(Material.flat(UInt8(20 + 20 * index), format), at: Int64(index) * 33_333_333)
        }
        #expect(try rig.finished(try rig.end()).frames == 10)
        let bytes = try Shell.bytes(rig.path)
        let header = try #require(bytes.firstIndex(of: 10)) + 1
        let size = 6 + 320 * 240 * 2
        let lumas = stride(from: header, to: bytes.count, by: size).map { Int(bytes[$0 + 6]) }
        #expect(lumas == [20, 40, 60, 80, 80, 80, 80, 160, 180, 200])
    }

    @Test func `Y4M fills ten seconds of an hour without a signal`() throws {
        let format = Material.yuyv(32, 16)
        let rig = try Rig(OutputDescription(name: "f", kind: .frames, format: "y4m"), video: format)
        for time in [0, 33_333_333, 3_600_000_000_000, 3_600_033_333_333] as [Int64] {
            try rig.frame(Material.flat(90, format), at: time)
        }
        #expect((300...304).contains(try rig.finished(try rig.end()).frames))
    }

    @Test func `Y4M whose end is lost is as long as was asked`() throws {
        let format = Material.yuyv()
        let output = OutputDescription(name: "f", kind: .frames, format: "y4m", duration: 500_000_000)
        let rig = try Rig(output, video: format)
        try rig.holdClock()
        for index in [0, 1, 2, 30] {
            try rig.frame(Material.flat(90, format), at: Int64(index) * 33_333_333)
        }
        #expect(try rig.finished(try rig.outcome()).frames == 15)
    }

    @Test func `a PNG's pixels are square`() throws {
        let format = Material.yuyv()
        let rig = try Rig(OutputDescription(name: "p", kind: .photo, format: "png"), video: format)
        try rig.frame(Material.flat(120, format), at: 0)
        _ = try rig.finished(try rig.outcome())
        #expect(try Probe.values(rig.path, "-show_entries stream=sample_aspect_ratio") == ["1:1"])
    }

    @Test(arguments: [30, 60] as [UInt32]) func `Matroska's default duration is the measured one`(
        nominal: UInt32
    ) throws {
        let format = Material.yuyv(fps: nominal)
        let rig = try Rig(OutputDescription(name: "m", kind: .movie, format: "mkv"), video: format)
        // Every 40 ms, with one lost: the others tell.
        for index in (0..<50) where index != 20 {
            try rig.frame(Material.flat(90, format), at: Int64(index) * 40_000_000)
        }
        _ = try rig.finished(try rig.end())
        #expect(try Probe.values(rig.path, "-show_entries stream=avg_frame_rate") == ["25/1"])
        #expect(try Probe.decodes(rig.path))
    }

    // MARK: Full disks

    @Test(arguments: Material.movies + Material.sounds)
    func `a disk that is full at once keeps no file that does not play`(format: String) throws {
        let isMovie = Material.movies.contains(format)
        let pictures = Material.yuyv()
        // 4 KiB: the page that is looked for, and no more.
        let rig = try Rig(
            OutputDescription(name: "m", kind: isMovie ? .movie : .sound, format: format),
            video: isMovie ? pictures : nil,
            audio: Material.stereo,
            slots: 256,
            process: RecorderProcess.Limits(fileBlocks: 8)
        )
        for index in 0..<300 {
            let position = UInt64(index * 480)
            // Loud noise, which no encoder makes small.
            var noise = UInt32(index)
            let bytes = (0..<Material.stereo.periodBytes).map { _ in
                noise = noise &* 1_664_525 &+ 1_013_904_223
                return UInt8(noise >> 24)
            }
            try rig.period(bytes, at: Int64(index) * 10_000_000, position: position)
            if isMovie, index % 4 == 0 {
                try rig.frame(Material.flat(UInt8(index % 200), pictures), at: Int64(index) * 10_000_000)
            }
        }
        guard case .failed(let fault, _) = try rig.end() else {
            throw CaptureError(.internalFault, "\(rig.reports)")
        }
        #expect(fault.code.exitCode == 74)
        // What is left holds something that plays.
        let left = try Shell.bytes(rig.path).isEmpty ? 0 : Probe.packets(rig.path, isMovie ? "v" : "a").count
        #expect(try left > 0 || Shell.bytes(rig.path).isEmpty)
    }
}
