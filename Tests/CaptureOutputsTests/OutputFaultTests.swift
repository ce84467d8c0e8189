import CaptureCore
import CaptureOutputs
import CaptureRing
import CaptureSystem
import Glibc
import Testing

/// What others do to the file that a recorder writes.
@Suite(.timeLimit(.minutes(10))) struct `A file that is being recorded` {
    private static let format = Material.yuyv()
    private static let movie = OutputDescription(name: "m", kind: .movie, format: "mkv")

    /// Records pictures until the recorder is done, or for ten seconds.
    private func record(
        _ rig: Rig,
        noise: ((Int) -> [UInt8])? = nil,
        meanwhile: (Int) -> Void = { _ in }
    ) throws -> RecorderReport? {
        let never = try EventSignal()
        for index in 0..<300 {
            meanwhile(index)
            let picture = noise?(index) ?? Material.flat(UInt8(index % 200), Self.format)
            try rig.frame(picture, at: Int64(index) * 33_333_333)
            _ = try Poll.wait(never.descriptor, timeout: 30)
            while try !Poll.wait(rig.socket.file.descriptor, timeout: 0).isEmpty {
                switch try rig.next() {
                case .failed(let error, let counters): return .failed(error, counters)
                case .finished(let counters): return .finished(counters)
                default: continue
                }
            }
        }
        return nil
    }

    @Test func `and that is deleted ends the recording, and says so`() throws {
        let rig = try Rig(Self.movie, video: Self.format)
        let report = try record(rig, meanwhile: { index in if index == 60 { unsafe unlink(rig.path) } })
        let error = try rig.fault(try #require(report))
        #expect(error.code.exitCode == 74)
        #expect(error.message.contains("deleted"))
    }

    @Test func `and that is deleted just before the end is told, too`() throws {
        let rig = try Rig(Self.movie, video: Self.format)
        for index in 0..<60 { try rig.frame(Material.flat(90, Self.format), at: Int64(index) * 33_333_333) }
        try rig.progress { $0.frames == 60 }
        unsafe unlink(rig.path)
        #expect(try rig.fault(try rig.end()).message.contains("deleted"))
    }

    @Test func `and that never had a name is not missed`() throws {
        // O_TMPFILE, which does not import.
        let file = try Descriptor.open("/tmp", O_RDWR | O_DIRECTORY | 0o20_000_000, mode: 0o600)
        let rig = try Rig(Self.movie, video: Self.format, file: file)
        for index in 0..<60 { try rig.frame(Material.flat(90, Self.format), at: Int64(index) * 33_333_333) }
        try rig.progress { $0.frames == 60 }
        #expect(try rig.finished(try rig.end()).frames == 60)
    }

    @Test(arguments: ["mkv", "mp4"]) func `and reaches its size limit is whole, and says so`(container: String) throws {
        var output = Self.movie
        output.format = container
        output.videoCodec = "mjpeg"
        output.sizeLimit = 3_000_000
        let rig = try Rig(output, video: Self.format)
        var seed: UInt32 = 1
        let report = try record(
            rig,
            noise: { index in
                (0..<Self.format.frameSize).map { _ in
                    seed = seed &* 1_664_525 &+ 1_013_904_223 &+ UInt32(index)
                    return UInt8(seed >> 24)
                }
            }
        )
        let error = try rig.fault(try #require(report))
        #expect(error.code.exitCode == 74)
        #expect(error.message.contains("3000000 bytes (ulimit -f)"))
        #expect(try Shell.bytes(rig.path).count <= 3_000_000)
        #expect(try Probe.packets(rig.path, "v").count > 0)
        #expect(try Probe.decodes(rig.path))
    }

    @Test func `is recorded by nobody else meanwhile, and by anybody afterwards`() throws {
        let first = try Rig(Self.movie, video: Self.format)
        let second = try Rig(Self.movie, video: Self.format, file: try Descriptor.open(first.path, O_RDWR))
        let error = try second.fault(try second.ready())
        #expect(error.code.exitCode == 75)
        for index in 0..<10 { try first.frame(Material.flat(90, Self.format), at: Int64(index) * 33_333_333) }
        #expect(try first.finished(try first.end()).frames == 10)
        let third = try Rig(Self.movie, video: Self.format, file: try Descriptor.open(first.path, O_RDWR))
        guard case .ready = try third.ready() else { throw CaptureError(.internalFault, "\(third.reports)") }
        _ = try third.end()
    }
}
