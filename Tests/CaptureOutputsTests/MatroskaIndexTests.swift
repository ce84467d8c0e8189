import CLibAV
import CaptureCore
import CaptureSystem
import Glibc
import MediaExamination
import Testing

@testable import CaptureOutputs

@Suite struct `The index of a Matroska file` {
    private static let cues: [UInt8] = [0x1C, 0x53, 0xBB, 0x6B]
    private static let point: UInt8 = 0xBB
    private static let time: UInt8 = 0xB3

    /// The times, in milliseconds, that the index of a file at `path` points at.
    private func times(_ path: String) throws -> [Int] {
        let bytes = try Shell.bytes(path)
        let start = try #require(
            (0..<max(bytes.count - 4, 0)).last { bytes[$0...].starts(with: `The index of a Matroska file`.cues) }
        )
        var (at, end) = try element(bytes, at: start + 4)
        var found: [Int] = []
        while at < end {
            try #require(bytes[at] == `The index of a Matroska file`.point)
            let (inside, next) = try element(bytes, at: at + 1)
            try #require(bytes[inside] == `The index of a Matroska file`.time)
            let (number, behind) = try element(bytes, at: inside + 1)
            found.append(bytes[number..<behind].reduce(0) { $0 << 8 | Int($1) })
            at = next
        }
        return found
    }

    /// Where the content of an element begins and ends whose length stands at a place.
    private func element(_ bytes: [UInt8], at place: Int) throws -> (Int, Int) {
        let width = bytes[place].leadingZeroBitCount + 1
        let first = Int(bytes[place]) & (0xff >> width)
        let length = bytes[(place + 1)..<(place + width)].reduce(first) { $0 << 8 | Int($1) }
        try #require(place + width + length <= bytes.count)
        return (place + width, place + width + length)
    }

    /// Writes pictures, each of which is a key picture, at 30 a second.
    private func record(_ count: Int, bytes: Int) throws -> String {
        let path = Rig.temporaryPath("mkv")
        let file = try RecorderFile(try Descriptor.open(path, O_RDWR | O_CREAT))
        let muxer = try Muxer(.matroska, file, duration: 0, size: 0)
        try muxer.addStream(compressed: Material.compressed(.mjpeg), as: AV_CODEC_ID_MJPEG, header: [])
        try muxer.writeHeader(audioPadding: 0, reordering: 0)
        let picture = [UInt8](repeating: 1, count: bytes)
        for index in 0..<count {
            let packet = try unsafe picture.withUnsafeBytes { try unsafe EncodedPacket(.video, copying: $0) }
            packet.isKeyframe = true
            let time = Int64(index * 1000 / 30)
            unsafe packet.packet.pointee.pts = time
            unsafe packet.packet.pointee.dts = time
            try muxer.write(packet)
            if index % 15 == 14 { try muxer.flush(length: time * 1_000_000) }
        }
        try muxer.finish(audioLength: -1, interval: nil, chapters: [])
        return path
    }

    // Above 4 KiB, every picture begins a cluster.
    @Test(arguments: [100, 5000]) func `has a place a second, though every picture is a key picture`(
        bytes: Int
    ) throws {
        let path = try record(9000, bytes: bytes)
        defer { unsafe unlink(path) }
        let times = try times(path)
        #expect(times.first == 0)
        #expect(times.count <= 300 * 10 / 9 + 1)
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 <= 1000 })
        #expect(times.last.map { $0 >= 299_000 } ?? false)
        let packets = try Probe.packets(path, "v")
        #expect(packets.count == 9000 && packets.allSatisfy(\.isKey))
        let sought = try Probe.values(path, "-read_intervals 150.5%+#1 -show_entries packet=pts_time")
        let found = try #require(sought.first.flatMap(Double.init))
        #expect(found <= 150.5 && found >= 149.5)
    }

    @Test func `of sound alone begins with the first sound`() throws {
        let output = OutputDescription(name: "m", kind: .movie, format: "mkv")
        let rig = try Rig(output, audio: Material.stereo)
        try rig.tone(periods: 1000)
        _ = try rig.finished(try rig.end())
        let times = try times(rig.path)
        #expect(times.first == 0)
        #expect((9...12).contains(times.count), "\(times)")
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 <= 1500 })
    }
}
