@testable import CaptureOutputs

@testable import MediaExamination
import CaptureCore
import CaptureRing
import CaptureSystem
import Glibc
import Testing

/// A finished MP4 or MOV is an ordinary file.
@Suite struct IndexTests {
    private func record(_ container: String, append: Bool = false) throws -> Rig {
        let format = Material.yuyv()
        let output = OutputDescription(name: "m", kind: .movie, format: container)
        let path = Rig.temporaryPath(container)
        let file = append ? try Descriptor.open(path, O_WRONLY | O_CREAT | O_APPEND) : nil
        let rig = try Rig(output, video: format, audio: Material.stereo, file: file)
        for index in 0..<120 { try rig.frame(Material.flat(UInt8(40 + index), format), at: Int64(index) * 33_333_333) }
        try rig.tone(periods: 400)
        _ = try rig.finished(try rig.end())
        if append { unsafe #expect(rename(path, rig.path) == 0) }
        return rig
    }

    @Test(arguments: ["mp4", "mov"]) func `it has its index at the front`(container: String) throws {
        let rig = try record(container)
        let bytes = try Shell.bytes(rig.path)
        var types: [String] = []
        var at = 0
        while at + 8 <= bytes.count {
            var size = Int(bytes[at...].number(at: 0, UInt32.self))
            if size == 1 { size = Int(bytes[at...].number(at: 8, UInt64.self)) }
            types.append(String(decoding: bytes[at + 4..<at + 8], as: UTF8.self))
            guard size >= 8 else { break }
            at += size
        }
        #expect(at == bytes.count)
        #expect(types == ["ftyp", "moov", "mdat"])
    }

    @Test(arguments: ["mp4", "mov"]) func `it says its exact length and seeks`(container: String) throws {
        let rig = try record(container)
        #expect(try Probe.values(rig.path, "-select_streams v -show_entries stream=nb_frames") == ["120"])
        let length = try #require(Double(try Probe.values(rig.path, "-show_entries format=duration")[0]))
        #expect(abs(length - 4) < 0.001)
        let sound = try #require(
            Double(try Probe.values(rig.path, "-select_streams a -show_entries stream=duration")[0])
        )
        #expect(abs(sound - 4) < 0.0001)
        // A frame from the middle, whose luma says which it is.
        let seen = try Probe.run(
            "ffmpeg -v error -ss 2.5 -i \(rig.path) -frames:v 1 -vf crop=2:2:100:100,scale=1:1 -f rawvideo -pix_fmt gray - "
                + "| od -An -tu1"
        )
        let luma = try #require(Int(seen.filter(\.isNumber)))
        #expect(abs(luma - Int((Double(40 + 75) - 16) * 255 / 219)) <= 3 || abs(luma - 115) <= 3, "\(luma)")
        let keys = try Probe.packets(rig.path, "v").filter(\.isKey).map(\.time)
        #expect(keys == [0])
    }

    @Test(arguments: ["mp4", "mov", "mkv"]) func `where nothing can be gone back in, it is a stream`(
        container: String
    ) throws {
        let rig = try record(container, append: true)
        #expect(try Probe.packets(rig.path, "v").count == 120)
        #expect(try Probe.decodes(rig.path))
    }
}
