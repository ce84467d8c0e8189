import CaptureCore
import CaptureRing
import CaptureSystem
import Glibc
import TestSupport
import Testing

@testable import CaptureOutputs

/// What a greatest size and a least free space make of a recording.
@Suite(.timeLimit(.minutes(10))) struct `A limit of a recording` {
    private static let pictures = Material.yuyv(160, 120)

    /// Pictures that take room, since each is noise of its own.
    private static let noise: [[UInt8]] = (0..<8).map { Material.noise(pictures, seed: $0, bits: 6) }

    private static func picture(_ index: Int) -> [UInt8] { noise[index / 4 % noise.count] }

    /// Feeds pictures and sound of some seconds, of which the sound comes `lead` periods ahead.
    private func feed(_ rig: Rig, seconds: Int, lead: Int = 0) throws {
        for index in 0..<(seconds * 100 + lead) {
            if rig.audio != nil, index < seconds * 100 {
                try rig.tone(index)
            }
            let picture = index - lead
            if rig.video != nil, picture >= 0, picture % 4 == 0 {
                try rig.frame(Self.picture(picture), at: Int64(picture) * 10_000_000)
                if rig.audio != nil, picture % 40 == 36 { try rig.taken(picture / 4 - 5) }
            }
        }
    }

    /// The counters of a recording that a limit ended. One that none ended ends with its streams.
    private func ended(_ rig: Rig, by limit: RecordingLimit) throws -> OutputStatistics {
        let counters = try rig.finished(try rig.end())
        #expect(counters.reachedLimit == limit)
        return counters
    }

    /// Checks that a movie is whole, and pictures and sound end together.
    private func examine(_ path: String, _ counters: OutputStatistics) throws {
        #expect(try Probe.decodes(path))
        let pictures = try Probe.packets(path, "v").map(\.time).sorted()
        #expect(pictures.count == Int(counters.frames))
        #expect(zip(pictures, pictures.dropFirst()).allSatisfy { $1 - $0 < 0.041 }, "\(pictures)")
        let end = try #require(pictures.last) + 0.04
        let heard = try Probe.run("ffmpeg -v error -i \(path) -f s16le -ac 1 - | wc -c")
        let sound = Double(try #require(Int(heard.filter(\.isNumber)))) / 96_000
        #expect(abs(sound - end) < 0.03, "pictures end at \(end) s, sound at \(sound) s")
        #expect(abs(Double(counters.duration) / 1e9 - end) < 0.03)
    }

    @Test(
        arguments: [
            ("mkv", "h264", 200_000, 7), ("mp4", "h264", 200_000, 40), ("mov", "h264", 150_000, 7),
            ("mkv", "mjpeg", 100_000, 40), ("mp4", "mjpeg", 100_000, 7),
        ] as [(String, String, Int64, Int)]
    )
    func `ends a movie whole before it is larger, however far sound is ahead`(
        container: String,
        codec: String,
        size: Int64,
        lead: Int
    ) throws {
        let output = OutputDescription(
            name: "m",
            kind: .movie,
            format: container,
            videoCodec: codec,
            quality: 60,
            maxFileSize: size
        )
        let rig = try Rig(output, video: Self.pictures, audio: Material.stereo, slots: 256)
        // Chapters are written at the end.
        for index in 0..<100 {
            let marker = try RecordingMarker(String(repeating: "a", count: 200))
            let time = Rig.epoch.advanced(by: Int64(index) * 1_000_000)
            try rig.socket.send(RecorderCommand.mark(marker, at: time).text)
        }
        try rig.holdClock()
        try feed(rig, seconds: 6, lead: lead)
        let counters = try ended(rig, by: .fileSize)
        let bytes = Int64(try Shell.bytes(rig.path).count)
        #expect(bytes <= size && bytes > size / 4, "\(bytes) of \(size)")
        #expect(counters.bytes == UInt64(bytes))
        try examine(rig.path, counters)
    }

    @Test(arguments: Material.sounds) func `ends sound whole before it is larger`(format: String) throws {
        let output = OutputDescription(name: "s", kind: .sound, format: format, maxFileSize: 100_000)
        let rig = try Rig(output, audio: Material.stereo)
        try feed(rig, seconds: 12)
        let counters = try ended(rig, by: .fileSize)
        let bytes = try Shell.bytes(rig.path).count
        // WAV is filled to the last sample.
        #expect(bytes <= 100_000 && bytes > (format == "wav" ? 99_990 : 50_000), "\(bytes)")
        #expect(counters.bytes == UInt64(bytes))
        #expect(try Probe.decodes(rig.path))
        let heard = try Probe.run("ffmpeg -v error -i \(rig.path) -f s16le -ac 1 - | wc -c")
        #expect(abs(try #require(Int(heard.filter(\.isNumber))) / 2 - Int(counters.samples)) <= 1024)
    }

    @Test func `ends a movie whose camera is disabled`() throws {
        let output = OutputDescription(
            name: "m",
            kind: .movie,
            format: "mkv",
            audioCodec: "pcm",
            maxFileSize: 300_000
        )
        let rig = try Rig(output, video: Self.pictures, audio: Material.stereo, disabled: [.video])
        for index in 0..<300 {
            try rig.tone(index)
            if index % 4 == 0 { try rig.frame(Self.picture(index), at: Int64(index) * 10_000_000) }
        }
        // Nothing ends its streams.
        let counters = try rig.finished(try rig.outcome())
        #expect(counters.reachedLimit == .fileSize)
        #expect(counters.frames == 0 && counters.samples > 24_000)
        #expect(try Shell.bytes(rig.path).count <= 300_000)
    }

    @Test(arguments: ["mjpeg", "h264"]) func `that has no room for a picture is a fault, which says so`(
        codec: String
    ) throws {
        let format = Material.yuyv(640, 480)
        let output = OutputDescription(
            name: "m",
            kind: .movie,
            format: "mp4",
            videoCodec: codec,
            quality: 100,
            maxFileSize: 65_536
        )
        let rig = try Rig(output, video: format, slots: 32)
        let picture = Material.noise(format, seed: 1, bits: 6)
        for index in 0..<12 { try rig.frame(picture, at: Int64(index) * 40_000_000) }
        let fault = try rig.fault(try rig.end())
        #expect(fault.code.exitCode == 74)
        #expect(fault.message.contains("no room for a first picture"))
        #expect(try Shell.bytes(rig.path).count <= 65_536)
    }

    @Test(arguments: [("raw", 2 * 160 * 120), ("y4m", 2 * 160 * 120 + 6), ("mjpeg", 0)])
    func `ends a stream behind a whole frame`(format: String, bytesOfFrame: Int) throws {
        let output = OutputDescription(name: "f", kind: .frames, format: format, maxFileSize: 200_000)
        let rig = try Rig(output, video: Self.pictures)
        try feed(rig, seconds: 2)
        let counters = try ended(rig, by: .fileSize)
        let bytes = try Shell.bytes(rig.path)
        #expect(bytes.count <= 200_000)
        #expect(counters.bytes == UInt64(bytes.count))
        if bytesOfFrame > 0 {
            #expect(counters.frames == 5)
            let header = bytes.count - 5 * bytesOfFrame
            #expect(format == "raw" ? header == 0 : header > 0 && bytes[header - 1] == 10)
        } else {
            #expect(bytes.suffix(2) == [0xFF, 0xD9])
        }
    }

    @Test(.enabled(if: SmallDisk.isPossible), arguments: ["mkv", "mp4", "wav", "raw"])
    func `ends a file while its disk keeps what shall stay free`(format: String) throws {
        let disk = try SmallDisk(kilobytes: 1280)
        let kind: OutputKind = format == "wav" ? .sound : format == "raw" ? .frames : .movie
        let output = OutputDescription(name: "m", kind: kind, format: format, minFreeSpace: 1 << 20)
        let path = disk.path + "/a." + format
        let rig = try Rig(
            output,
            video: kind == .sound ? nil : Self.pictures,
            audio: kind == .frames ? nil : Material.stereo,
            slots: 256,
            file: try Descriptor.open(path, O_RDWR | O_CREAT)
        )
        try feed(rig, seconds: 6)
        let counters = try ended(rig, by: .freeSpace)
        var facts = statvfs()
        unsafe #expect(statvfs(disk.path, &facts) == 0)
        #expect(facts.f_bavail * facts.f_frsize >= 1 << 20)
        #expect(counters.bytes > 1 << 16)
        if kind == .movie { try examine(path, counters) }
    }

    @Test(.enabled(if: SmallDisk.isPossible)) func `that the disk breaks already is told at the start`() throws {
        let disk = try SmallDisk(kilobytes: 512)
        let file = try Descriptor.open(disk.path + "/a", O_RDWR | O_CREAT)
        let output = OutputDescription(name: "s", kind: .sound, format: "wav", minFreeSpace: 1 << 20)
        let fault = try Rig(output, audio: Material.stereo, file: file)
        let error = try fault.fault(try fault.outcome())
        #expect(error.code.exitCode == 74 && error.errno == ENOSPC)
        #expect(error.message.contains("keep 1048576 bytes free"))
    }

    @Test func `of free space is refused for a pipe`() throws {
        var ends: [Int32] = [-1, -1]
        unsafe #expect(pipe(&ends) == 0)
        let reader = Descriptor(owning: ends[0])
        let output = OutputDescription(name: "s", kind: .samples, format: "raw", minFreeSpace: 1)
        let rig = try Rig(output, audio: Material.stereo, file: Descriptor(owning: ends[1]))
        let error = try rig.fault(try rig.outcome())
        #expect(error.code == .invalidArgument)
        #expect(error.message.contains("pipe"))
        withExtendedLifetime(reader) {}
    }

    @Test(arguments: ["mkv", "mp4"])
    func `of a duration holds for a last picture, too, before which others were lost`(format: String) throws {
        let path = Rig.temporaryPath(format)
        defer { unsafe unlink(path) }
        let file = try Descriptor.open(path, O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
        let output = OutputDescription(name: "m", kind: .movie, format: format, duration: 1_000_000_000)
        let rig = try Rig(output, video: Material.yuyv(160, 120, fps: 10), file: file)
        try rig.holdClock()
        // In hundredths of a second.
        for time in [0, 10, 20, 30, 40, 50, 60, 70, 95, 120, 130, 140] {
            try rig.frame(Self.picture(time), at: Int64(time) * 10_000_000)
        }
        #expect(try ended(rig, by: .duration).frames == 9)
        let length = try Probe.run("ffprobe -v error -show_entries format=duration -of csv=p=0 \(path)")
        let seconds = try #require(Double(length.filter { !$0.isWhitespace }))
        #expect(abs(seconds - 1) <= 0.01, "\(length)")
    }

    @Test func `is told also of a duration and a number of frames`() throws {
        var output = OutputDescription(name: "m", kind: .movie, format: "mkv", duration: 1_000_000_000)
        let timed = try Rig(output, video: Self.pictures, audio: Material.stereo)
        try feed(timed, seconds: 2)
        _ = try ended(timed, by: .duration)
        (output.duration, output.frameCount) = (0, 10)
        let counted = try Rig(output, video: Self.pictures)
        try feed(counted, seconds: 2)
        #expect(try ended(counted, by: .frameCount).frames == 10)
        output.frameCount = 0
        let stopped = try Rig(output, video: Self.pictures)
        try feed(stopped, seconds: 1)
        #expect(try stopped.finished(try stopped.end()).reachedLimit == nil)
    }

    @Test func `of a duration is counted from the first picture, however late that comes`() throws {
        let output = OutputDescription(name: "m", kind: .movie, format: "mkv", duration: 1_000_000_000)
        let rig = try Rig(output, video: Self.pictures, audio: Material.stereo)
        try rig.tone(periods: 100)
        // Counted from the first sound, it would be over.
        let begun = Timestamp.now
        try rig.progress { _ in Timestamp.now - begun > 2_000_000_000 }
        try rig.holdClock()
        for index in 100..<300 {
            if index % 4 == 0 { try rig.frame(Self.picture(index), at: Int64(index) * 10_000_000) }
            // Sound of more than a second would not wait for the picture.
            if index == 100 { try rig.taken(1) }
            try rig.tone(index)
            if index % 40 == 36 { try rig.taken((index - 100) / 4 - 5) }
        }
        #expect(try ended(rig, by: .duration).frames == 25)
    }

    @Test func `counts an index that would not fit into its room as part of the file`() throws {
        let file = try RecorderFile(try Descriptor.open("/tmp", O_RDWR | O_DIRECTORY | 0o20_000_000, mode: 0o600))
        let short = HybridMP4(file, duration: 0, size: 0)
        #expect(short.ending(samples: 1000, chapters: 0).growth == 0)
        #expect(short.ending(samples: 1000, chapters: 0).filling > 1000 * 20)
        #expect(short.ending(samples: 100_000, chapters: 0).growth > 100_000 * 20)
        #expect(short.ending(samples: 100_000, chapters: 0).filling == 0)
    }
}
