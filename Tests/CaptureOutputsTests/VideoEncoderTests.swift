import CaptureCore
import Glibc
import Testing

@testable import CaptureOutputs

@Suite struct VideoEncoderTests {
    private func encoder(_ width: Int, _ height: Int, _ rate: Int32) throws -> VideoEncoder {
        try VideoEncoder(
            "libx264",
            VideoEncoderRequest(
                layout: PictureLayout(width: width, height: height, chroma: .yuv420),
                color: ColorMeaning(isFullRange: false, matrix: .bt709, colorSpace: 3, transfer: 1),
                interval: FrameInterval(1, UInt32(rate)),
                bitRate: 0
            )
        )
    }

    @Test func `a large picture is encoded on as many processors as it takes, a small one on one`() throws {
        let processors = sysconf(Int32(_SC_NPROCESSORS_ONLN))
        let (large, small) = (try encoder(1920, 1080, 30), try encoder(320, 240, 30))
        #expect(large.threads == min(processors, 8))
        #expect(small.threads == 1)
    }

    @Test func `every frame comes out at once, whatever the number of processors`() throws {
        let encoder = try encoder(1920, 1080, 30)
        let size = PictureLayout(width: 1920, height: 1080, chroma: .yuv420).size
        let pool = try BufferPool(count: 2, capacity: size)
        for index in 0..<4 {
            let memory = try #require(pool.take())
            unsafe memset(memory.bytes.baseAddress!, Int32(40 * index), size)
            let info = BufferInfo(
                timestamp: Timestamp(nanoseconds: 0),
                deviceSequence: UInt64(index),
                bytesUsed: (0, 0, 0, 0),
                flags: .keyframe
            )
            let picture = MediaBuffer(memory, of: pool, count: size, info: info)
            let packets = try encoder.encode(picture, at: Int64(index) * 33_333, isKey: index == 0)
            #expect(packets.count == 1)
        }
    }
}
