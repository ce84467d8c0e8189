@testable import CaptureOutputs

import CaptureCore
import CaptureRing
import CaptureSystem
import Glibc
import Testing

/// Photos, sound files and streams.
@Suite struct StreamTests {
    private func pictures(_ output: OutputDescription, _ format: VideoFormat, _ frames: [[UInt8]]) throws -> Rig {
        let rig = try Rig(output, video: format)
        for (index, frame) in frames.enumerated() { try rig.frame(frame, at: Int64(index) * 33_333_333) }
        return rig
    }

    private func sound(_ output: OutputDescription, _ format: AudioFormat, periods: Int) throws -> Rig {
        let rig = try Rig(output, audio: format)
        if output.duration > 0 { try rig.holdClock() }
        for index in 0..<periods {
            let position = UInt64(index * format.periodFrames)
            try rig.period(Material.tone(format, position: position), at: Int64(index) * 10_000_000, position: position)
        }
        return rig
    }

    /// The colour of the middle of a picture.
    private func colour(_ path: String) throws -> [Int] {
        let text = try Probe.run(
            "ffmpeg -v error -i \(path) -frames:v 1 -vf crop=2:2:100:100,scale=1:1 -f rawvideo -pix_fmt rgb24 - "
                + "| od -An -tu1"
        )
        return text.split(separator: " ").compactMap { Int($0.filter(\.isNumber)) }
    }

    // MARK: Stopping

    @Test func `nothing that was published after the stop is delivered, however long the reader was held up`() throws {
        // The recorder gives up a reader that does not read for two seconds. Then the test tries again.
        var count: Int?
        for _ in 0..<20 where count == nil { count = try delivered(of: Material.yuyv(64, 64)) }
        #expect(count == 300 * Material.yuyv(64, 64).frameSize)
    }

    /// The bytes that a late reader gets of 300 frames before a stop and 15 after it; `nil` if the recorder gave it up.
    private func delivered(of format: VideoFormat) throws -> Int? {
        let frame = Material.flat(90, format)
        var ends: [Int32] = [-1, -1]
        #expect(unsafe pipe(&ends) == 0)
        let (reading, writing) = (Descriptor(owning: ends[0]), Descriptor(owning: ends[1]))
        let output = OutputDescription(name: "f", kind: .frames, format: "raw")
        let rig = try Rig(output, video: format, slots: 512, file: writing)
        // More than it has memory for, which is 256, so that it waits for the pipe.
        for index in 0..<300 { try rig.frame(frame, at: Int64(index) * 33_333_333) }
        let stop = Timestamp.now
        for index in 300..<315 { try rig.frame(frame, at: Int64(index) * 33_333_333) }
        try rig.stop(at: stop)
        // The stop was heard once the next command is answered.
        try rig.socket.send(RecorderCommand.file.text, with: [Descriptor.open("/dev/null", O_RDWR)])
        while !rig.reports.contains(where: { if case .file = $0 { true } else { false } }) {
            guard case .failed(let error, _) = try rig.next() else { continue }
            guard error.errno == EAGAIN else { throw error }
            return nil
        }
        var count = 0
        var part = [UInt8](repeating: 0, count: 1 << 20)
        // The recorder's end of the pipe is not the last one, so the length tells where it is at its end.
        while count < 300 * frame.count, try !Poll.wait(reading.descriptor, timeout: 10_000).isEmpty {
            count += try unsafe part.withUnsafeMutableBytes { unsafe try reading.read(into: $0) }
        }
        let report = try rig.outcome()
        if case .failed(let error, _) = report, error.errno == EAGAIN { return nil }
        _ = try rig.finished(report)
        let flags = fcntl(reading.descriptor, F_GETFL)
        #expect(fcntl(reading.descriptor, F_SETFL, flags | O_NONBLOCK) == 0)
        #expect(unsafe Glibc.read(reading.descriptor, &part, 1) == -1)
        withExtendedLifetime(writing) {}
        return count
    }

    @Test(arguments: [("raw", OutputKind.frames, true), ("mkv", .movie, false)])
    func `a reader that closes the pipe ends a stream well, and a movie too early`(
        format: String,
        kind: OutputKind,
        isWell: Bool
    ) throws {
        var ends: [Int32] = [-1, -1]
        #expect(unsafe pipe(&ends) == 0)
        let writing = Descriptor(owning: ends[1])
        close(ends[0])
        let video = Material.yuyv()
        let rig = try Rig(OutputDescription(name: "f", kind: kind, format: format), video: video, file: writing)
        for index in 0..<60 { try rig.frame(Material.flat(90, video), at: Int64(index) * 33_333_333) }
        switch try rig.outcome() {
        case .finished: #expect(isWell)
        case .failed(let error, _):
            #expect(!isWell)
            #expect(error.message == "the reader closed the pipe")
        default: Issue.record("\(rig.reports)")
        }
    }

    // MARK: Sound files

    @Test(arguments: [("wav", "pcm_s16le"), ("flac", "flac"), ("opus", "opus"), ("m4a", "aac")])
    func `a sound file holds every sample`(format: String, codec: String) throws {
        let rig = try sound(OutputDescription(name: "s", kind: .sound, format: format), Material.stereo, periods: 200)
        let counters = try rig.finished(try rig.end())
        #expect(counters.samples == 96000)
        #expect(
            abs(counters.peak - 500) <= 1
                || rig.reports.contains { if case .progress(let c) = $0 { c.peak >= 499 } else { false } }
        )
        #expect(try Probe.values(rig.path, "-show_entries stream=codec_name") == [codec])
        let length = try #require(Double(try Probe.values(rig.path, "-show_entries format=duration")[0]))
        // Ogg counts the 312 samples that Opus needs to begin.
        #expect(abs(length - 2) < (format == "opus" ? 0.007 : 0.001))
        #expect(try Probe.decodes(rig.path))
    }

    @Test(arguments: Material.sounds)
    func `a sound file that ends by itself tells its length`(format: String) throws {
        let output = OutputDescription(name: "s", kind: .sound, format: format, duration: 1_000_000_000)
        let rig = try sound(output, Material.stereo, periods: 200)
        #expect(try rig.finished(try rig.outcome()).samples == 48000)
        let length = try #require(Double(try Probe.values(rig.path, "-show_entries format=duration")[0]))
        #expect(abs(length - 1) < 0.007)
    }

    @Test func `WAV samples are those of the microphone`() throws {
        let rig = try sound(OutputDescription(name: "s", kind: .sound, format: "wav"), Material.stereo, periods: 10)
        _ = try rig.finished(try rig.end())
        let all = (0..<10).flatMap { Material.tone(Material.stereo, position: UInt64($0 * 480)) }
        #expect(Array(try Shell.bytes(rig.path).dropFirst(Material.header.size)) == all)
    }

    @Test func `past four gigabytes WAV becomes RF64 in place`() throws {
        let header = Material.header
        #expect(header.bytes(data: 1000).count == header.size)
        #expect(Array(header.bytes(data: 1000).prefix(4)) == Array("RIFF".utf8))
        let data: Int64 = 6_000_000_000
        let path = Rig.temporaryPath("wav")
        defer { unsafe unlink(path) }
        let file = try Descriptor.open(path, O_RDWR | O_CREAT)
        let bytes = header.bytes(data: data)
        #expect(bytes.count == header.size)
        #expect(Array(bytes.prefix(4)) == Array("RF64".utf8))
        try unsafe bytes.withUnsafeBytes { try unsafe file.write(all: $0) }
        #expect(ftruncate(file.descriptor, off_t(data) + off_t(header.size)) == 0)
        let length = try #require(Double(try Probe.values(path, "-show_entries format=duration")[0]))
        #expect(length == Double(data) / 192_000)
    }

    @Test func `sound in a pipe is WAV without a length, or raw`() throws {
        for format in ["wav", "raw"] {
            let path = Rig.temporaryPath("pipe")
            defer { unsafe unlink(path) }
            // A file opened for appending cannot be gone back in, as a pipe cannot.
            let file = try Descriptor.open(path, O_WRONLY | O_CREAT | O_APPEND)
            let output = OutputDescription(name: "s", kind: .samples, format: format, duration: 55_000_000)
            let rig = try Rig(output, audio: Material.stereo, file: file)
            try rig.holdClock()
            try rig.tone(periods: 10)
            #expect(try rig.finished(try rig.outcome()).samples == 2640)
            let bytes = try Shell.bytes(path)
            #expect(bytes.count == 2640 * 4 + (format == "wav" ? Material.header.size : 0))
            if format == "wav" { #expect(Array(bytes[4..<8]) == [255, 255, 255, 255]) }
        }
    }

    // MARK: Photos

    @Test(arguments: ["jpeg", "png"]) func `a photo shows what the camera sees`(format: String) throws {
        let source = Material.yuyv()
        // Red in BT.601: Y 81, U 90, V 240.
        var row: [UInt8] = []
        for _ in 0..<160 { row += [81, 90, 81, 240] }
        let frame = (0..<240).flatMap { _ in row }
        let rig = try pictures(OutputDescription(name: "p", kind: .photo, format: format), source, [frame, frame])
        let counters = try rig.finished(try rig.outcome())
        #expect(counters.frames == 1)
        let colour = try colour(rig.path)
        #expect(colour.count >= 3)
        #expect(colour[0] > 245 && colour[1] < 12 && colour[2] < 12, "\(colour)")
    }

    @Test func `a photo of an MJPEG camera is its first whole frame, with Huffman tables`() throws {
        let images = try CopyTests.images(3)
        let bare = StreamTests.withoutTables(images[1])
        #expect(bare.count < images[1].count)
        let rig = try pictures(
            OutputDescription(name: "p", kind: .photo, format: "jpeg"),
            Material.compressed(.mjpeg),
            [Array(images[0].prefix(images[0].count / 3)), bare, images[2]]
        )
        let counters = try rig.finished(try rig.outcome())
        #expect(counters.missedFrames == 1)
        // Beside the tables, the segments of EXIF and XMP, one behind the other.
        let file = try Shell.bytes(rig.path)
        let exif = try #require(file.indices.first { file[$0...].starts(with: [0xff, 0xe1]) })
        func size(at segment: Int) -> Int { 2 + Int(file[segment + 2]) << 8 + Int(file[segment + 3]) }
        let xmp = exif + size(at: exif)
        #expect(file[(xmp + 4)...].starts(with: XMPPacket.signature))
        let added = size(at: exif) + size(at: xmp)
        #expect(file.count == bare.count + JPEGFile.standardTables.count + added)
        #expect(try Probe.decodes(rig.path))
    }

    private static func withoutTables(_ image: [UInt8]) -> [UInt8] {
        var bare = Array(image[0..<2])
        var at = 2
        while at + 4 < image.count, image[at] == 0xff, image[at + 1] != 0xda {
            let length = 2 + Int(image[at + 2]) * 256 + Int(image[at + 3])
            if image[at + 1] != 0xc4 { bare += image[at..<at + length] }
            at += length
        }
        return bare + image[at...]
    }

    // MARK: Frames

    @Test func `frames as Y4M, raw and MJPEG`() throws {
        let format = Material.yuyv()
        let frames = (0..<10).map { Material.flat(UInt8(50 + $0 * 10), format) }
        let y4m = try pictures(
            OutputDescription(name: "f", kind: .frames, format: "y4m", frameCount: 8),
            format,
            frames
        )
        #expect(try y4m.finished(try y4m.outcome()).frames == 8)
        #expect(
            try Probe.values(
                y4m.path,
                "-f yuv4mpegpipe -count_frames -show_entries stream=pix_fmt,r_frame_rate,nb_read_frames"
            )
                == ["yuv422p", "30/1", "8"]
        )
        let raw = try pictures(
            OutputDescription(name: "f", kind: .frames, format: "raw", frameCount: 3),
            format,
            frames
        )
        _ = try raw.finished(try raw.outcome())
        #expect(try Shell.bytes(raw.path) == frames.prefix(3).flatMap { $0 })
        let jpeg = try pictures(OutputDescription(name: "f", kind: .frames, format: "mjpeg"), format, frames)
        #expect(try jpeg.finished(try jpeg.end()).videoEncoder == "mjpeg")
        #expect(try Probe.values(jpeg.path, "-f mjpeg -count_frames -show_entries stream=nb_read_frames") == ["10"])
    }

    /// A flat picture in a raw format, drawn by ffmpeg, or by hand where it cannot.
    private static func flat(_ name: String, _ ffmpegName: String) throws -> [UInt8] {
        let (red, green, blue) = (UInt8(0x20), UInt8(0xa0), UInt8(0xe0))
        let mosaics: [String: [UInt8]] = [
            "BA81": [blue, green, green, red], "RGGB": [red, green, green, blue], "GBRG": [green, blue, red, green],
            "GRBG": [green, red, blue, green],
        ]
        if let mosaic = mosaics[name] {
            return (0..<240).flatMap { row in
                (0..<320).map { column in mosaic[row % 2 * 2 + column % 2] }
            }
        }
        let path = Rig.temporaryPath("raw")
        defer { unsafe unlink(path) }
        _ = try Probe.run(
            "ffmpeg -v error -f lavfi -i color=0x20A0E0:size=320x240:rate=30 -frames:v 1 "
                + "-vf scale=out_color_matrix=bt601:out_range=\(name == "GREY" ? "pc" : "tv"),format=\(ffmpegName) "
                + "-f rawvideo \(path)"
        )
        let bytes = try Shell.bytes(path)
        // NV12 with every row of chroma twice.
        return name == "NV16" ? bytes + bytes.suffix(320 * 120) : bytes
    }

    @Test(
        arguments: [
            ("YUYV", "yuyv422"), ("UYVY", "uyvy422"), ("YVYU", "yvyu422"), ("NV12", "nv12"), ("NV21", "nv21"),
            ("NV16", "nv12"), ("YU12", "yuv420p"), ("422P", "yuv422p"), ("RGB3", "rgb24"), ("BGR3", "bgr24"),
            ("XR24", "bgr0"), ("XB24", "rgb0"), ("BA81", ""), ("RGGB", ""), ("GBRG", ""), ("GRBG", ""),
            ("GREY", "gray"),
        ]
    )
    func `every raw format gives the colours of the camera`(name: String, ffmpegName: String) throws {
        let bytes = try StreamTests.flat(name, ffmpegName)
        let pixelFormat = try #require(PixelFormat(name: name))
        let stride =
            ["NV12", "NV21", "NV16", "YU12", "422P", "BA81", "RGGB", "GBRG", "GRBG", "GREY"].contains(name)
            ? 320 : bytes.count / 240
        let format = VideoFormat(
            pixelFormat: pixelFormat,
            width: 320,
            height: 240,
            interval: FrameInterval(framesPerSecond: 30),
            planes: [PlaneLayout(offset: 0, stride: stride, size: bytes.count)]
        )
        let rig = try pictures(OutputDescription(name: "p", kind: .photo, format: "png"), format, [bytes])
        _ = try rig.finished(try rig.outcome())
        let seen = try colour(rig.path)
        let grey = try colour(rig.path)[0]
        let expected = name == "GREY" ? [grey, grey, grey] : [0x20, 0xa0, 0xe0]
        for (one, other) in zip(seen, expected) { #expect(abs(one - other) <= 6, "\(name): \(seen)") }
    }

    @Test func `planes in memory of their own and rows with padding are understood`() throws {
        let format = VideoFormat(
            pixelFormat: .nv12m,
            width: 320,
            height: 240,
            interval: FrameInterval(framesPerSecond: 30),
            planes: [
                PlaneLayout(offset: 0, stride: 384, size: 384 * 240),
                PlaneLayout(offset: 98304, stride: 384, size: 384 * 120),
            ]
        )
        let rig = try Rig(OutputDescription(name: "f", kind: .frames, format: "raw", frameCount: 1), video: format)
        let video = try #require(rig.video)
        let slot = try #require(video.claim())
        let memory = unsafe video.memory(ofSlot: slot)
        let base = try unsafe #require(memory.baseAddress)
        unsafe memset(base, 7, memory.count)
        for row in 0..<240 { unsafe memset(base + row * 384, 100, 320) }
        for row in 0..<120 { unsafe memset(base + 98304 + row * 384, 50, 320) }
        video.publish(
            slot,
            BufferInfo(
                timestamp: Rig.epoch,
                deviceSequence: 0,
                bytesUsed: (384 * 240, 384 * 120, 0, 0),
                flags: .monotonic
            )
        )
        _ = try rig.finished(try rig.outcome())
        let expected = [UInt8](repeating: 100, count: 320 * 240) + [UInt8](repeating: 50, count: 320 * 120)
        #expect(try Shell.bytes(rig.path) == expected)
    }
}

extension Material {
    /// The header of WAV files that a `Rig` makes of `stereo`.
    fileprivate static let header = WAVHeader(stereo, FileFacts(Rig.origin, at: Rig.epoch))
}
