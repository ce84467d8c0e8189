import CaptureCore
import CaptureOutputs
import CaptureRing
import CaptureSystem
import Testing

@Suite struct MovieTests {
    /// Three seconds of pictures at 30 frames a second and a tone.
    private func record(
        _ output: OutputDescription,
        frames: Int = 90,
        soundDelay: Int64 = 0
    ) throws -> (rig: Rig, report: RecorderReport) {
        let format = Material.yuyv()
        let rig = try Rig(output, video: format, audio: Material.stereo)
        for index in 0..<frames {
            try rig.frame(Material.flat(UInt8(60 + index), format), at: Int64(index) * 33_333_333)
        }
        for index in 0..<(frames * 10 / 3) {
            try rig.tone(index, delay: soundDelay)
        }
        return (rig, try rig.end())
    }

    @Test(arguments: Material.movies)
    func `a movie holds every frame and sample, and says its true length`(container: String) throws {
        let (rig, report) = try record(OutputDescription(name: "m", kind: .movie, format: container))
        guard case .finished(let counters) = report else {
            Issue.record("\(report)")
            return
        }
        #expect(counters.frames == 90)
        #expect(counters.samples == 144_000)
        #expect(counters.missedFrames == 0)
        #expect(counters.videoEncoder == "libx264")
        #expect(counters.audioEncoder == "aac")
        #expect(try Probe.values(rig.path, "-show_entries stream=codec_name") == ["h264", "aac"])
        #expect(try Probe.packets(rig.path, "v").count == 90)
        let duration = try #require(Double(try Probe.values(rig.path, "-show_entries format=duration")[0]))
        #expect(abs(duration - 3) < 0.035)
        #expect(try Probe.decodes(rig.path))
    }
}
