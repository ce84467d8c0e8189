import CaptureCore
import Testing

@testable import CaptureOutputs

@Suite struct InterlacedTests {
    private static let orders: [(FieldOrder, String, String)] = [
        (.progressive, "progressive", "Ip"), (.topFirst, "tt", "It"), (.bottomFirst, "bb", "Ib"),
    ]

    @Test(arguments: orders) func `a movie of interlaced frames is marked as such`(row: (FieldOrder, String, String))
        throws
    {
        var format = Material.yuyv()
        format.fields = row.0
        for container in ["mkv", "mp4"] {
            let rig = try Rig(
                OutputDescription(name: "movie", kind: .movie, format: container, videoCodec: "h264"),
                video: format
            )
            for index in 0..<10 { try rig.frame(Material.flat(100, format), at: Int64(index) * 33_333_333) }
            _ = try rig.finished(try rig.end())
            #expect(try Probe.values(rig.path, "-show_entries stream=field_order") == [row.1], "\(container)")
        }
    }

    @Test(arguments: orders) func `so is a stream of frames`(row: (FieldOrder, String, String)) throws {
        var format = Material.yuyv()
        format.fields = row.0
        let rig = try Rig(OutputDescription(name: "frames", kind: .frames, format: "y4m"), video: format)
        try rig.frame(Material.flat(100, format), at: 0)
        _ = try rig.finished(try rig.end())
        let head = try Shell.bytes(rig.path).prefix(60)
        #expect(String(decoding: head, as: UTF8.self).contains(" \(row.2) "))
    }
}
