import CaptureCore
import CaptureSystem
import Glibc
import Testing

/// What the recorder made goes into the library too: finished as a whole file, interrupted for what there is of it.
@Suite struct OwnRecordingTests {
    private static let formats = Material.movies + Material.sounds

    /// Four seconds from a camera, if the format has pictures, and a microphone.
    private func record(_ format: String) throws -> Rig {
        let isMovie = Material.movies.contains(format)
        let pictures = Material.yuyv()
        let rig = try Rig(
            OutputDescription(name: "m", kind: isMovie ? .movie : .sound, format: format),
            video: isMovie ? pictures : nil,
            audio: Material.stereo,
            slots: 256,
            process: RecorderProcess.Limits(fileBlocks: nil)
        )
        for index in 0..<400 {
            try rig.tone(index)
            if isMovie, index % 4 == 0 {
                try rig.frame(Material.flat(UInt8(index % 200), pictures), at: Int64(index) * 10_000_000)
            }
        }
        return rig
    }

    private func examine(_ rig: Rig, isWhole: Bool) throws -> ExaminedMedia {
        let run = try ImportRun(.examine(isWhole: isWhole), Descriptor.open(rig.path, O_RDONLY))
        #expect(try !run.bytes().isEmpty)
        switch try run.report() {
        case .examined(let media): return media
        case .failed(let error): throw error
        case .copied: throw CaptureError(.internalFault, "it copied")
        }
    }

    @Test(arguments: formats) func `a finished recording is whole`(format: String) throws {
        let rig = try record(format)
        _ = try rig.finished(try rig.end())
        let media = try examine(rig, isWhole: true)
        #expect(abs(media.duration - 4_000_000_000) < 60_000_000, "\(media)")
        #expect(media.kind == (media.width > 0 ? .movie : .sound))
    }

    @Test(arguments: formats) func `of a recording whose recorder was killed there is what it wrote`(
        format: String
    ) throws {
        let rig = try record(format)
        try rig.progress { $0.samples >= 4 * 48000 && $0.queueDepth == 0 }
        rig.process?.kill(SIGKILL)
        #expect(try rig.process?.wait() == -SIGKILL)
        let media = try examine(rig, isWhole: false)
        #expect(media.duration > 2_900_000_000 && media.duration < 4_100_000_000, "\(media)")
    }

    @Test func `photos are whole`() throws {
        for format in Material.photos {
            let pictures = Material.yuyv()
            let rig = try Rig(OutputDescription(name: "p", kind: .photo, format: format), video: pictures)
            try rig.frame(Material.flat(120, pictures), at: 0)
            _ = try rig.finished(try rig.outcome())
            let media = try examine(rig, isWhole: true)
            #expect((media.kind, media.width, media.height) == (.photo, 320, 240))
        }
    }
}
