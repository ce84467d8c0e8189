import CaptureCore
import CaptureOutputs
import CaptureRing
import CaptureSystem
import Glibc
import Testing

/// What cameras compress themselves is kept as it is.
@Suite struct CopyTests {
    /// JPEG images as a camera gives them.
    static func images(_ count: Int) throws -> [[UInt8]] {
        let path = Rig.temporaryPath("mjpeg")
        defer { unsafe unlink(path) }
        _ = try Probe.run(
            "ffmpeg -v error -f lavfi -i testsrc=size=320x240:rate=30 -frames:v \(count) -c:v mjpeg -huffman default -q:v 4 "
                + "-pix_fmt yuvj422p -f mjpeg \(path)"
        )
        let all = try Shell.bytes(path)
        var starts: [Int] = []
        for index in 0..<(all.count - 2) where all[index] == 0xff && all[index + 1] == 0xd8 && all[index + 2] == 0xff {
            starts.append(index)
        }
        return zip(starts, starts.dropFirst() + [all.count]).map { Array(all[$0..<$1]) }
    }

    /// Access units with start codes, a keyframe every ten; the first ones are none.
    static func units() throws -> [[UInt8]] {
        let path = Rig.temporaryPath("h264")
        defer { unsafe unlink(path) }
        _ = try Probe.run(
            "ffmpeg -v error -f lavfi -i testsrc=size=320x240:rate=30 -frames:v 60 -c:v libx264 -bf 0 -g 10 "
                + "-x264-params aud=1:repeat-headers=1 -f h264 \(path)"
        )
        let all = try Shell.bytes(path)
        var starts: [Int] = []
        for index in 0..<(all.count - 5)
        where all[index] == 0 && all[index + 1] == 0 && all[index + 2] == 0 && all[index + 3] == 1
            && all[index + 4] & 0x1f == 9
        { starts.append(index) }
        return zip(starts, starts.dropFirst() + [all.count]).map { Array(all[$0..<$1]) }
    }

    @Test(arguments: Material.movies, [7, 8] as [UInt8])
    func `a stream begins with the first keyframe that has all its parameter sets`(container: String, lacking: UInt8)
        throws
    {
        var units = try CopyTests.units()
        // Without its access unit delimiter, each begins with one parameter set, and the other.
        let keys = units.indices.filter { unit in
            units[unit].indices.contains { Self.isUnit(7, in: units[unit], at: $0) }
        }
        let first = units[keys[0]]
        let begin = try #require(first.indices.first { Self.isUnit(lacking, in: first, at: $0) })
        let end = try #require(
            first.indices.first {
                $0 > begin && first[$0...].starts(with: [0, 0, 0, 1])
                    || $0 > begin + 2 && first[$0...].starts(with: [0, 0, 1])
            }
        )
        units[keys[0]].removeSubrange(begin..<end)
        let rig = try Rig(
            OutputDescription(name: "m", kind: .movie, format: container),
            video: Material.compressed(.h264)
        )
        for (index, unit) in units.enumerated() {
            try rig.frame(unit, at: Int64(index) * 33_333_333, flags: [.monotonic])
        }
        let counters = try rig.finished(try rig.end())
        #expect(counters.frames == UInt64(units.count - keys[1]))
        #expect(try Probe.decodes(rig.path))
    }

    @Test func `large MJPEG waits for its sound without losing pictures`() throws {
        var format = Material.compressed(.mjpeg)
        format.planes = [PlaneLayout(offset: 0, stride: 0, size: 4_147_200)]
        let images = try CopyTests.images(60)
        let rig = try Rig(
            OutputDescription(name: "m", kind: .movie, format: "mkv"),
            video: format,
            audio: Material.stereo
        )
        for (index, image) in images.enumerated() { try rig.frame(image, at: Int64(index) * 33_333_333) }
        try rig.taken(60)
        try rig.tone(periods: 200)
        #expect(try rig.finished(try rig.end()).frames == 60)
    }

    private static func isUnit(_ type: UInt8, in bytes: [UInt8], at place: Int) -> Bool {
        bytes[place...].starts(with: [0, 0, 0, 1]) && place + 4 < bytes.count && bytes[place + 4] & 0x1f == type
    }

    @Test(arguments: Material.movies)
    func `MJPEG passes through bit for bit`(container: String) throws {
        let images = try CopyTests.images(40)
        #expect(images.count == 40)
        let rig = try Rig(
            OutputDescription(name: "m", kind: .movie, format: container),
            video: Material.compressed(.mjpeg)
        )
        for (index, image) in images.enumerated() { try rig.frame(image, at: Int64(index) * 33_333_333) }
        let counters = try rig.finished(try rig.end())
        #expect(counters.videoEncoder == "copy")
        #expect(counters.frames == 40)
        let back = Rig.temporaryPath("back")
        defer { unsafe unlink(back) }
        _ = try Probe.run("ffmpeg -v error -i \(rig.path) -c copy -f mjpeg \(back)")
        #expect(try Shell.bytes(back) == images.flatMap { $0 })
    }

    @Test(arguments: Material.movies)
    func `H264 passes through from its first keyframe on`(container: String) throws {
        let units = try CopyTests.units()
        #expect(units.count == 60)
        let rig = try Rig(
            OutputDescription(name: "m", kind: .movie, format: container),
            video: Material.compressed(.h264)
        )
        // The camera was running already: what comes first cannot be decoded.
        for (index, unit) in units.dropFirst(5).enumerated() { try rig.frame(unit, at: Int64(index) * 33_333_333) }
        let counters = try rig.finished(try rig.end())
        #expect(counters.videoEncoder == "copy")
        #expect(counters.frames == 50)
        #expect(counters.missedFrames == 5)
        #expect(try Probe.decodes(rig.path))
        let kept = Rig.temporaryPath("h264")
        defer { unsafe unlink(kept) }
        let file = try Descriptor.open(kept, O_WRONLY | O_CREAT)
        let bytes = units.dropFirst(10).flatMap { $0 }
        try unsafe bytes.withUnsafeBytes { try unsafe file.write(all: $0) }
        let sums = "-map 0:v -f framemd5 - | grep -v '#' | sed 's/.*, //'"
        #expect(
            try Probe.run("ffmpeg -v error -i \(rig.path) \(sums)")
                == Probe.run("ffmpeg -v error -f h264 -i \(kept) \(sums)")
        )
    }

    @Test func `a compressed camera is decoded when another codec is asked for`() throws {
        let rig = try Rig(
            OutputDescription(name: "m", kind: .movie, format: "mkv", videoCodec: "h264"),
            video: Material.compressed(.mjpeg)
        )
        for (index, image) in try CopyTests.images(20).enumerated() {
            // One frame is torn, as first frames often are.
            try rig.frame(index == 0 ? Array(image.prefix(image.count / 2)) : image, at: Int64(index) * 33_333_333)
        }
        let counters = try rig.finished(try rig.end())
        #expect(counters.frames == 19)
        #expect(counters.missedFrames == 1)
        #expect(counters.videoEncoder == "libx264")
        #expect(try Probe.values(rig.path, "-show_entries stream=codec_name,color_range") == ["h264", "pc"])
    }
}
