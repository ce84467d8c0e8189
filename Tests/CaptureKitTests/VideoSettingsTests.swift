import CaptureCore
import MediaConversion
import Testing

@testable import CaptureKit

@Suite struct VideoSettingsTests {
    private func source(_ name: String, _ width: Int, _ height: Int, quantization: UInt32 = 0) throws -> VideoFormat {
        let pixelFormat = try #require(PixelFormat(name: name))
        let planes = try #require(PixelStructure(pixelFormat)).planes
        let size = planes.reduce(0) { $0 + $1.row(width) * $1.rows(height) }
        return VideoFormat(
            pixelFormat: pixelFormat,
            width: width,
            height: height,
            interval: FrameInterval(framesPerSecond: 30),
            planes: [PlaneLayout(offset: 0, stride: planes[0].row(width), size: size)],
            color: ColorDescription(quantization: quantization)
        )
    }

    @Test func `a scaled frame keeps the camera's format if it can be had, also at an odd width`() throws {
        let odd = try VideoSettings(width: 33)
        #expect(try odd.converter(from: source("GREY", 64, 48))?.format.pixelFormat == .grey)
        #expect(try odd.converter(from: source("RGB3", 64, 48))?.format.width == 33)
        let error = try #require(throws: CaptureError.self) { try odd.converter(from: source("YUYV", 64, 48)) }
        #expect(error.code == .noSuchFormat && error.message == "YUYV needs an even width, not 33; use 32 or 34")
        #expect(try VideoSettings(width: 32).converter(from: source("NV24", 64, 48))?.format.pixelFormat == .nv12)
    }

    @Test func `red, green and blue that are asked for are opaque and of the full range`() throws {
        let (plain, alpha) = (try VideoSettings(pixelFormat: .rgb24), try VideoSettings(pixelFormat: .bgra32))
        #expect(try plain.converter(from: source("RGB3", 64, 48)) == nil)
        #expect(try plain.converter(from: source("RGB3", 64, 48, quantization: 2))?.format.color.quantization == 1)
        #expect(try alpha.converter(from: source("AR24", 64, 48)) != nil)
        #expect(try VideoSettings.camera.converter(from: source("AR24", 64, 48, quantization: 2)) == nil)
    }

    @Test func `a stamp that leaps holds no other frames up`() {
        for leap in [Int64.min, 15_000_000_000, .max] {
            var pace = FramePace(framesPerSecond: 10, interval: 33_333_333)
            func takes(_ frame: Int64) -> Bool {
                pace.takes(Timestamp(nanoseconds: 5_000_000_000 + frame * 33_333_333))
            }
            let before = takes(0)
            _ = pace.lost(3, before: Timestamp(nanoseconds: leap))
            _ = pace.takes(Timestamp(nanoseconds: leap))
            _ = pace.lost(3, before: Timestamp(nanoseconds: .max))
            let taken = (2..<32).count { takes($0) }
            #expect(before && taken == 10, "after \(leap)")
        }
    }

    @Test func `a value out of range is refused, with what to use`() throws {
        for rate in [1e-10, 0.0009, 1001, -1, .nan] {
            let error = try #require(throws: CaptureError.self) { try VideoSettings(framesPerSecond: rate) }
            #expect(error.code == .usage && error.message.contains("0.001 to 1000"))
        }
        for rate in [0.001, 1000] { _ = FramePace(framesPerSecond: rate, interval: 33_333_333) }
        let error = try #require(throws: CaptureError.self) { try VideoSettings(pixelFormat: .nv12, width: 641) }
        #expect(error.message == "NV12 needs an even width, not 641; use 640 or 642")
    }
}
