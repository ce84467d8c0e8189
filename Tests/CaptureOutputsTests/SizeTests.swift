import CaptureCore
import CaptureSystem
import Glibc
import Testing

@testable import CaptureOutputs

/// Movies are as small as those of ffmpeg with the same preset, and as good. Prints a table.
@Suite(.serialized) struct SizeTests {
    static let sizes = [(640, 480), (1280, 720), (1920, 1080)]
    /// Drawn with much that moves, a zoom into detail, and a still room with a sensor's noise.
    static let contents = [
        "drawn": "testsrc2=s=SIZE:r=30,noise=alls=4:allf=t",
        "detail": "mandelbrot=s=SIZE:r=30:end_scale=0.05",
        // With colours and places: ffmpeg would choose others each time, and the sizes would differ.
        "noise": "gradients=s=SIZE:r=30:speed=0.02:n=4:c0=0x30261c:c1=0xb09878:c2=0x506070:c3=0xd8d0c0"
            + ":x0=9:y0=9:x1=600:y1=400,format=yuv420p,noise=alls=10:allf=t,gblur=sigma=0.8",
    ]
    private static let frames = 120

    /// What a file comes to.
    private struct Result {
        var bytes: Int
        var likeness: Double
        var seconds: Double
    }

    @Test(arguments: sizes, ["drawn", "detail", "noise"])
    func `a movie is no larger and no worse than veryfast makes it`(size: (Int, Int), content: String) throws {
        let (width, height) = size
        let source = Rig.temporaryPath("yuv")
        defer { unsafe unlink(source) }
        let drawn = try #require(SizeTests.contents[content])
            .replacing("SIZE", with: "\(width)x\(height)")
        _ = try Probe.run(
            "ffmpeg -v error -nostdin -f lavfi -i '\(drawn)' -frames:v \(SizeTests.frames) -pix_fmt yuv420p -f rawvideo \(source)"
        )
        let raw = "-f rawvideo -pix_fmt yuv420p -s \(width)x\(height) -r 30 -i \(source)"
        let ours = try record(source, width, height, against: raw)
        var fast = try veryfast(raw, factor: 23)
        #expect(Double(ours.bytes) <= 1.1 * Double(fast.bytes))
        // If ours is smaller, it is no worse than one of theirs that is as small.
        for factor in 24..<30 where ours.likeness < fast.likeness - 0.0005 && fast.bytes > ours.bytes {
            fast = try veryfast(raw, factor: factor)
        }
        let row = [("ours", ours), ("veryfast", fast)].map { name, result in
            "\(name) \(result.bytes / 1024) KiB SSIM \(result.likeness) \(Double(Int(result.seconds * 10)) / 10) s"
        }
        print("# \(width)x\(height) \(content): \(row.joined(separator: " | "))")
        // To the three digits that one gives it with.
        #expect(ours.likeness >= fast.likeness - 0.0005)
    }

    private func record(_ source: String, _ width: Int, _ height: Int, against raw: String) throws -> Result {
        let count = width * height * 3 / 2
        let format = VideoFormat(
            pixelFormat: try #require(PixelFormat(name: "YU12")),
            width: width,
            height: height,
            interval: FrameInterval(1, 30),
            planes: [PlaneLayout(offset: 0, stride: width, size: count)],
            color: ColorDescription(colorSpace: 3)
        )
        // The preset that a machine gets which keeps up with it.
        let output = OutputDescription(
            name: "movie",
            kind: .movie,
            format: "mkv",
            videoCodec: "h264",
            encoderPreset: "veryfast"
        )
        let rig = try Rig(output, video: format, slots: 40, process: RecorderProcess.Limits())
        let file = try Descriptor.open(source, O_RDONLY)
        var frame = [UInt8](repeating: 0, count: count)
        for index in 0..<SizeTests.frames {
            var have = 0
            while have < count {
                have += try unsafe frame.withUnsafeMutableBytes { bytes in
                    try unsafe file.read(into: UnsafeMutableRawBufferPointer(rebasing: bytes[have...]))
                }
            }
            try rig.frame(frame, at: Int64(index) * 33_333_333)
            if index % 20 == 19 { try rig.progress { $0.frames > index - 10 } }
        }
        let counters = try rig.finished(try rig.end())
        #expect(counters.frames == SizeTests.frames)
        let process = try #require(rig.process)
        _ = try process.wait()
        return try result(rig.path, raw, process.seconds)
    }

    private func veryfast(_ raw: String, factor: Int) throws -> Result {
        let path = Rig.temporaryPath("mkv")
        defer { unsafe unlink(path) }
        let encoder = "-c:v libx264 -preset veryfast -crf \(factor)"
        let said = try Probe.run("(ffmpeg -nostdin -benchmark \(raw) \(encoder) \(path) 2>&1)")
        let times = try #require(said.firstMatch(of: /utime=([0-9.]+)s stime=([0-9.]+)s/))
        return try result(path, raw, (Double(times.1) ?? 0) + (Double(times.2) ?? 0))
    }

    private func result(_ path: String, _ raw: String, _ seconds: Double) throws -> Result {
        let said = try Probe.run("(ffmpeg -nostdin -r 30 -i \(path) \(raw) -lavfi ssim -f null - 2>&1)")
        let likeness = try #require(said.firstMatch(of: /All:([0-9.]+)/).flatMap { Double($0.1) })
        return Result(bytes: try Shell.bytes(path).count, likeness: likeness, seconds: seconds)
    }
}
