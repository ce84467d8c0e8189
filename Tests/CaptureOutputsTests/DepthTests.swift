import CaptureCore
import CaptureOutputs
import CaptureSystem
import Testing

@Suite(.timeLimit(.minutes(10))) struct `A photo of distances` {
    /// Rows are wider than their pixels, as drivers have them.
    private static let format = VideoFormat(
        pixelFormat: .z16,
        width: 30,
        height: 20,
        interval: FrameInterval(framesPerSecond: 30),
        planes: [PlaneLayout(offset: 0, stride: 64, size: 64 * 20)],
        color: ColorDescription(colorSpace: 0)
    )

    private static func distance(_ x: Int, _ y: Int) -> Int { y == 0 ? 0 : x * 2000 + y * 101 }

    private static var frame: [UInt8] {
        var frame = [UInt8](repeating: 0xee, count: 64 * 20)
        for y in 0..<20 {
            for x in 0..<30 {
                let distance = distance(x, y)
                frame[y * 64 + x * 2] = UInt8(distance & 0xff)
                frame[y * 64 + x * 2 + 1] = UInt8(distance >> 8)
            }
        }
        return frame
    }

    private func take(_ format: String, _ change: (inout OutputDescription) -> Void = { _ in }) throws -> Rig {
        var output = OutputDescription(name: "photo", kind: .photo, format: format)
        change(&output)
        let rig = try Rig(output, video: Self.format)
        if case .failed(let error, _) = try rig.ready() { throw error }
        try rig.frame(Self.frame, at: 0)
        #expect(try rig.finished(try rig.end()).videoEncoder == "depth")
        return rig
    }

    @Test(arguments: ["png", "tiff"]) func `has them to the millimetre, as Python reads it`(format: String) throws {
        let rig = try take(format)
        let script =
            "from PIL import Image; i = Image.open('\(rig.path)'); print(i.size, i.mode, "
            + "*[i.getpixel((x, y)) for y in range(20) for x in range(30)])"
        let said = try Probe.run("env -u PYTHONPATH PYTHONHOME=/usr /usr/bin/python3 -c \"\(script)\"").split(
            separator: " "
        ).map(String.init)
        #expect(said.prefix(2) == ["(30,", "20)"])
        #expect(said[2].hasPrefix("I"))
        let numbers = said.dropFirst(3).compactMap { Int($0.filter { $0 != "\n" }) }
        #expect(numbers == (0..<20).flatMap { y in (0..<30).map { x in Self.distance(x, y) } })
    }

    @Test(arguments: ["png", "tiff"]) func `says what its numbers are, when and by which camera`(format: String) throws
    {
        let rig = try take(format)
        let tag = format == "png" ? "PNG:Description" : "IFD0:ImageDescription"
        #expect(try Probe.run("exiftool -s3 -\(tag) \(rig.path)") == "Depth in millimetres; 0 is unknown\n")
        #expect(
            try Probe.run("exiftool -s3 -IFD0:Model -IFD0:BitsPerSample -PNG:BitDepth \(rig.path)")
                == "\(Rig.origin.camera)\n16\n"
        )
        #expect(try Probe.run("exiftool -validate -s3 \(rig.path) | head -1").hasPrefix("OK"))
        #expect(try !Probe.run("exiftool -s3 -DateTimeOriginal \(rig.path)").isEmpty)
    }

    @Test func `passes over a frame that is not whole`() throws {
        let rig = try Rig(OutputDescription(name: "photo", kind: .photo, format: "tiff"), video: Self.format)
        try rig.frame(Array(Self.frame.dropLast(64)), at: 0)
        try rig.frame(Self.frame, at: 33_000_000)
        #expect(try rig.finished(try rig.end()).missedFrames == 1)
    }

    @Test func `is refused where there are no distances, and where they would be turned or mixed`() throws {
        for (format, video, word) in [
            ("tiff", Material.yuyv(), "jpeg or png"), ("jpeg", Self.format, "png or tiff"),
        ] {
            let rig = try Rig(OutputDescription(name: "photo", kind: .photo, format: format), video: video)
            let error = try rig.fault(try rig.outcome())
            #expect(error.message.contains(word), "\(error)")
        }
        let error = #expect(throws: CaptureError.self) { try take("png") { $0.settings.rotation = 90 } }
        #expect(error?.code == .invalidArgument)
        let rig = try Rig(OutputDescription(name: "movie", kind: .movie, format: "mkv"), video: Self.format)
        #expect(try rig.fault(try rig.outcome()).message.contains("no picture"))
    }
}
