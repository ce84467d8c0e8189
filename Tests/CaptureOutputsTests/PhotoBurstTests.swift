import CaptureCore
import CaptureSystem
import Glibc
import Testing

/// Consecutive pictures of one recorder, each in a file of its own.
@Suite struct `A burst of photos` {
    private let format = Material.yuyv(64, 48)

    private func rig(
        _ name: String,
        _ count: Int,
        _ format: VideoFormat? = nil,
        companion: String? = nil
    ) throws -> Rig {
        let rig = try Rig(
            OutputDescription(name: "burst", kind: .photo, format: name),
            video: format ?? self.format,
            burst: count,
            companion: companion
        )
        return rig
    }

    /// The luma of a picture in the middle, as ffmpeg decodes it.
    private func luma(_ path: String) throws -> Int {
        let out = Rig.temporaryPath("gray")
        defer { unsafe unlink(out) }
        _ = try Probe.run("ffmpeg -v error -i \(path) -pix_fmt gray -f rawvideo \(out)")
        return Int(try Shell.bytes(out)[64 * 24 + 32])
    }

    @Test(arguments: Material.photos) func `has a frame in each file, in their order`(name: String) throws {
        let rig = try rig(name, 3)
        // More than are wanted.
        for index in 0..<5 {
            try rig.frame(Material.flat(UInt8(60 + 40 * index), format), at: Int64(index) * 33_333_333)
        }
        let counters = try rig.finished(try rig.outcome())
        #expect(counters.frames == 3)
        let lumas = try ([rig.path] + rig.others).map(luma)
        // Limited range becomes full range.
        #expect(zip(lumas, [51, 98, 144]).allSatisfy { abs($0 - $1) <= 3 }, "\(lumas)")
        let sizes = try ([rig.path] + rig.others).map { UInt64(try Shell.bytes($0).count) }
        #expect(counters.pictures.map(\.bytes) == sizes)
        #expect(counters.bytes == sizes.reduce(0, +))
        let times = counters.pictures.map(\.time)
        #expect(zip(times.dropFirst(), times).allSatisfy { abs($0 - $1 - 33_333_333) < 2_000_000 }, "\(times)")
        #expect(counters.pictures.map(\.lostBefore) == [0, 0, 0])
    }

    @Test func `tells of the frames that the camera lost in between, and of none before it`() throws {
        let rig = try rig("jpeg", 3)
        for (index, lost) in [4, 2, 0].enumerated() {
            try rig.frame(Material.flat(90, format), at: Int64(index) * 33_333_333, lost: UInt64(lost))
        }
        #expect(try rig.finished(try rig.outcome()).pictures.map(\.lostBefore) == [0, 2, 0])
    }

    @Test func `counts a damaged frame as lost`() throws {
        let still = try rig("jpeg", 1)
        try still.frame(Material.flat(90, format), at: 0)
        _ = try still.finished(try still.outcome())
        let whole = try Shell.bytes(still.path)
        let rig = try rig("jpeg", 2, Material.compressed(.mjpeg, 64, 48))
        for (index, bytes) in [whole, Array(whole[..<(whole.count / 2)]), whole].enumerated() {
            try rig.frame(bytes, at: Int64(index) * 33_333_333)
        }
        let counters = try rig.finished(try rig.outcome())
        #expect(counters.pictures.map(\.lostBefore) == [0, 1])
        #expect(counters.missedFrames == 1)
    }

    @Test func `that the camera's end cuts off leaves nothing in its files`() throws {
        let rig = try rig("jpeg", 3)
        try rig.frame(Material.flat(90, format), at: 0)
        try rig.progress { $0.pictures.count == 1 }
        let end = try rig.end()
        let error = try rig.fault(end)
        #expect(error.code == .inputOutput && error.message.contains("picture 2 of 3"), "\(error)")
        for path in [rig.path] + rig.others { #expect(try Shell.bytes(path).isEmpty) }
        guard case .failed(_, let counters) = end else { return }
        #expect(counters.frames == 0 && counters.pictures.isEmpty)
    }

    @Test func `with companions has both files of each frame`() throws {
        let rig = try rig("jpeg", 4, companion: "png")
        for index in 0..<4 {
            try rig.frame(Material.flat(UInt8(60 + 40 * index), format), at: Int64(index) * 33_333_333)
        }
        let counters = try rig.finished(try rig.outcome())
        #expect(counters.frames == 2 && counters.videoEncoder == "mjpeg+png")
        let paths = [rig.path] + rig.others
        let lumas = try paths.map(luma)
        #expect(zip(lumas, [51, 51, 98, 98]).allSatisfy { abs($0 - $1) <= 3 }, "\(lumas)")
        let times = counters.pictures.map(\.time)
        #expect(times.count == 4 && times[0] == times[1] && times[2] == times[3] && times[1] < times[2])
        #expect(try counters.pictures.map(\.bytes) == paths.map { UInt64(try Shell.bytes($0).count) })
        #expect(counters.bytes == counters.pictures.map(\.bytes).reduce(0, +))
    }

    @Test func `of a camera's JPEG keeps that beside a PNG, and leaves a damaged one out`() throws {
        let still = try rig("jpeg", 1)
        try still.frame(Material.flat(90, format), at: 0)
        _ = try still.finished(try still.outcome())
        let whole = try Shell.bytes(still.path)
        let rig = try rig("png", 2, Material.compressed(.mjpeg, 64, 48), companion: "jpeg")
        try rig.frame(Array(whole[..<(whole.count / 2)]), at: 0)
        try rig.frame(whole, at: 33_333_333)
        let counters = try rig.finished(try rig.outcome())
        #expect(counters.videoEncoder == "png+copy" && counters.frames == 1)
        let lumas = try ([rig.path] + rig.others).map(luma)
        #expect(lumas.allSatisfy { abs($0 - 86) <= 3 }, "\(lumas)")
    }

    @Test
    func `whose camera is set for each takes the frame behind those that are passed over, and says how it was set`()
        throws
    {
        let output = OutputDescription(name: "bracket", kind: .photo, format: "jpeg")
        let rig = try Rig(output, video: format, burst: 2, isOrdered: true)
        // The first order lets the frames until 100 ms pass, and two more.
        try rig.shoot(PictureOrder(passing: 2, exposure: 5_000_000, bias: -1500), at: 100_000_000)
        try rig.shoot(PictureOrder(passing: 1, exposure: 40_000_000, bias: 500, isLit: true), at: 0)
        for index in 0..<8 {
            try rig.frame(Material.flat(UInt8(40 + 20 * index), format), at: Int64(index) * 40_000_000)
        }
        let counters = try rig.finished(try rig.outcome())
        #expect(counters.frames == 2 && counters.pictures.map(\.lostBefore) == [0, 0])
        // Frames 3 and 4 are passed over, 5 is the first, 6 is passed over, and 7 is the second.
        let lumas = try ([rig.path] + rig.others).map(luma)
        #expect(zip(lumas, [144, 190]).allSatisfy { abs($0 - $1) <= 3 }, "\(lumas)")
        let tags = try ([rig.path] + rig.others).map {
            try Probe.run("exiftool -n -T -ExposureCompensation -ExposureTime -ExposureMode -Flash \($0)")
        }
        #expect(
            tags.map { $0.split(whereSeparator: \.isWhitespace) } == [
                ["-1.5", "0.005", "2", "-"], ["0.5", "0.04", "2", "9"],
            ]
        )
    }

    @Test func `of distances has no companion`() throws {
        let output = OutputDescription(name: "p", kind: .photo, format: "tiff")
        let rig = try Rig(output, video: format, burst: 2, companion: "png")
        #expect(try rig.fault(try rig.outcome()).code != .internalFault)
    }
}
