import CaptureCore
import Glibc
import MediaConversion
import Testing

@testable import CaptureOutputs

@Suite struct VideoEncoderTests {
    private func encoder(_ width: Int, _ height: Int, _ rate: Int32) throws -> VideoEncoder {
        try VideoEncoder(
            "libx264",
            VideoEncoderRequest(
                layout: PictureLayout(width: width, height: height, samples: .yuv420),
                color: ColorMeaning(isFullRange: false, matrix: .bt709, colorSpace: 3, transfer: 1),
                interval: FrameInterval(1, UInt32(rate)),
                bitRate: 0
            )
        )
    }

    @Test func `a large picture is encoded on as many processors as it takes, a small one on one`() throws {
        let processors = sysconf(Int32(_SC_NPROCESSORS_ONLN))
        let (large, small) = (try encoder(1920, 1080, 30), try encoder(320, 240, 30))
        #expect(large.threads == min(processors, 8))
        #expect(small.threads == 1)
    }

    /// How many frames are inside of an encoder that takes one after the other, at most.
    private func held(_ rate: Int32) throws -> Int {
        let (width, height) = (320, 240)
        let encoder = try encoder(width, height, rate)
        let size = PictureLayout(width: width, height: height, samples: .yuv420).size
        let pool = try BufferPool(count: 32, capacity: size)
        var (inside, most, count) = (0, 0, 40)
        for index in 0..<count {
            let memory = try #require(pool.take())
            unsafe memory.bytes.initializeMemory(as: UInt8.self, repeating: UInt8(5 * index))
            let info = BufferInfo(
                timestamp: Timestamp(nanoseconds: 0),
                deviceSequence: UInt64(index),
                bytesUsed: (0, 0, 0, 0),
                flags: .keyframe
            )
            let picture = MediaBuffer(memory, of: pool, count: size, info: info)
            let made = try encoder.encode(picture, at: Int64(index) * 1_000_000 / Int64(rate), isKey: index == 0)
            inside += 1 - made.count
            count -= made.count
            most = max(most, inside)
        }
        #expect(try encoder.drain().count == count)
        return most
    }

    @Test func `what an encoder holds, and a kill costs, is a quarter of a second, whatever the rate`() throws {
        #expect(try held(60) == 10)
        #expect(try held(30) == 7)
        #expect(try held(15) == 3)
        #expect(try held(5) == 1)
    }

    @Test func `a movie can be entered each four seconds`() throws {
        let format = Material.yuyv(64, 48, fps: 5)
        let output = OutputDescription(name: "movie", kind: .movie, format: "mkv", videoCodec: "h264")
        let rig = try Rig(output, video: format)
        for index in 0..<45 { try rig.frame(Material.flat(UInt8(5 * index), format), at: Int64(index) * 200_000_000) }
        _ = try rig.finished(try rig.end())
        #expect(try Probe.packets(rig.path, "v").filter(\.isKey).map(\.time) == [0, 4, 8])
    }

    /// A file that breaks off is in the state of one whose recorder was killed: what its tracks are shifted by stands at
    /// its front, too.
    @Test(arguments: Material.movies, [false, true])
    func `pictures that are decoded early are shown when they were taken`(container: String, isCut: Bool) throws {
        let format = Material.yuyv()
        let output = OutputDescription(name: "movie", kind: .movie, format: container, videoCodec: "h264")
        let rig = try Rig(output, video: format, audio: Material.stereo)
        try rig.tone(periods: 300)
        for index in 0..<90 { try rig.frame(Material.flat(UInt8(40 + index), format), at: Int64(index) * 33_333_333) }
        try rig.progress { $0.frames == 90 && $0.bytes > 0 }
        let copy = Rig.temporaryPath(container)
        defer { unsafe unlink(copy) }
        _ = try Probe.run("cp \(rig.path) \(copy)")
        _ = try rig.finished(try rig.end())
        let path = isCut ? copy : rig.path
        let packets = try Probe.packets(path, "v")
        #expect(packets.map(\.time) != packets.map(\.time).sorted(), "there are B-frames")
        let times = packets.map(\.time).sorted()
        // Where the file breaks off, pictures may be missing that are shown before the last ones: at most three B-frames.
        let whole = times.dropLast(isCut ? 3 : 0)
        for (index, time) in whole.enumerated() { #expect(abs(time - Double(index) / 30) < 0.001) }
        for time in times { #expect(abs(time - (time * 30).rounded() / 30) < 0.001) }
        let starts = try Probe.values(path, "-show_entries stream=start_time")
        #expect(starts.allSatisfy { abs((Double($0) ?? 9) - 0) < 0.03 }, "\(starts)")
    }

    /// A second of a picture that moves, as any camera's does.
    private func movie(_ output: OutputDescription) throws -> Int {
        let format = Material.yuyv(640, 360)
        let rig = try Rig(output, video: format)
        for index in 0..<30 {
            var frame = Material.flat(100, format)
            for row in 0..<360 {
                for column in 0..<640 {
                    let wave = 60 * sin(Double(column + 3 * index) / 23) * cos(Double(row - index) / 17)
                    frame[(row * 640 + column) * 2] = UInt8(120 + wave + Double((row * 7 + column * 13) % 11))
                }
            }
            try rig.frame(frame, at: Int64(index) * 33_333_333)
        }
        _ = try rig.finished(try rig.end())
        return try Shell.bytes(rig.path).count
    }

    @Test func `quality and preset are what was asked for`() throws {
        func output(_ quality: Int, _ preset: String) -> OutputDescription {
            OutputDescription(
                name: "movie",
                kind: .movie,
                format: "mkv",
                videoCodec: "h264",
                quality: quality,
                encoderPreset: preset
            )
        }
        let usual = try movie(output(90, "veryfast"))
        #expect(try movie(output(50, "veryfast")) < usual * 2 / 3)
        #expect(try movie(output(90, "ultrafast")) > usual * 5 / 4)
    }
}
