import CaptureCore
import CaptureSystem
import Testing

/// libav is loaded for what needs it, before the sandbox closes. These run the real program: one that needed it later would
/// end, because the sandbox opens no file.
@Suite struct `libav is loaded` {
    /// Whether a recorder has the library when it is ready, and what it finishes with.
    private func record(
        _ kind: OutputKind,
        _ format: String,
        _ video: VideoFormat?,
        _ picture: [UInt8] = []
    ) throws -> (isLoaded: Bool, counters: OutputStatistics) {
        let rig = try Rig(
            OutputDescription(name: "a", kind: kind, format: format),
            video: video,
            audio: video == nil ? Material.stereo : nil,
            process: RecorderProcess.Limits()
        )
        let process = try #require(rig.process)
        let maps = try #require(Files.text(of: "/proc/\(process.pid)/maps", limit: 1 << 20))
        for index in 0..<10 {
            let time = Int64(index) * 10_000_000
            if video != nil {
                // A photo takes the first, and its recorder leaves.
                guard kind != .photo || index == 0 else { break }
                try rig.frame(picture, at: time)
            } else {
                let position = UInt64(index * 480)
                try rig.period(Material.tone(Material.stereo, position: position), at: time, position: position)
            }
        }
        return (maps.contains("libavcodec"), try rig.finished(rig.end()))
    }

    @Test(arguments: [
        (OutputKind.photo, "jpeg"), (.photo, "png"), (.frames, "raw"), (.frames, "mjpeg"), (.frames, "y4m"),
        (.movie, "mkv"),
    ])
    func `for movies and PNG, not for other pictures`(kind: OutputKind, format: String) throws {
        let pictures = Material.yuyv()
        let (isLoaded, counters) = try record(kind, format, pictures, Material.flat(100, pictures))
        #expect(isLoaded == (kind == .movie || format == "png"))
        #expect(counters.frames > 0)
    }

    @Test(arguments: [(OutputKind.photo, "jpeg"), (.frames, "mjpeg"), (.movie, "mkv"), (.movie, "mp4")])
    func `for movies of the camera's own images, not for the images`(kind: OutputKind, format: String) throws {
        let image = try #require(try CopyTests.images(1).first)
        let (isLoaded, counters) = try record(kind, format, Material.compressed(.mjpeg), image)
        #expect(isLoaded == (kind == .movie))
        #expect(counters.frames > 0)
    }

    @Test(arguments: [(OutputKind.sound, "wav"), (.samples, "raw"), (.sound, "flac"), (.sound, "opus")])
    func `for sound that is encoded, not for samples`(kind: OutputKind, format: String) throws {
        let (isLoaded, counters) = try record(kind, format, nil)
        #expect(isLoaded == ["flac", "opus"].contains(format))
        #expect(counters.samples == 4800)
    }
}
