import CaptureCore
import MediaConversion
import Testing

@testable import CaptureOutputs

/// What libv4lconvert is trusted with, tried with frames that no camera made.
@Suite struct OddConverterTests {
    @Test(arguments: OddConverter.formats)
    func `whatever stands in a frame, the library stays within its memory`(pixelFormat: PixelFormat) throws {
        let noise = Material.noise(Material.yuyv(640, 481), seed: .random(in: 0...UInt32.max))
        for (width, height) in [(320, 240), (352, 288), (640, 480), (322, 242), (34, 18)] {
            let size = width * height * 2
            let format = VideoFormat(
                pixelFormat: pixelFormat,
                width: width,
                height: height,
                interval: FrameInterval(framesPerSecond: 30),
                planes: [PlaneLayout(offset: 0, stride: width, size: size)]
            )
            for samples in [PictureLayout.Samples.yuv420, .rgb] {
                let converter = try OddConverter(format, to: samples)
                let picture = UnsafeMutableRawBufferPointer.allocate(byteCount: converter.capacity, alignment: 64)
                defer { unsafe picture.deallocate() }
                for length in [1, 100, size / 3, size / 2, size] {
                    for start in [0, 1, 2, 61] {
                        let made = unsafe noise[start..<start + length].withUnsafeBytes {
                            unsafe converter.convert($0, into: picture)
                        }
                        #expect(made == nil || made == converter.layout.size)
                    }
                }
            }
        }
    }

    @Test func `what was not tried is refused, with what helps`() throws {
        let format = VideoFormat(
            pixelFormat: try #require(PixelFormat(name: "JPGL")),
            width: 320,
            height: 240,
            interval: FrameInterval(framesPerSecond: 30),
            planes: [PlaneLayout(offset: 0, stride: 0, size: 100_000)]
        )
        let error = try #require(throws: CaptureError.self) { try OddConverter(format, to: .yuv420) }
        #expect(error.code == .noSuchFormat)
        #expect(error.message.contains("--format raw"))
    }
}
