import CaptureCore
import CaptureRing
import CaptureSystem
import Glibc
import Testing

@testable import CaptureOutputs

/// Raw formats, by pixels whose bytes are written out by hand; that real frames come out right is shown on vivid.
@Suite struct PixelStructureTests {
    /// A frame of the same few bytes again and again.
    private func frame(_ format: VideoFormat, _ unit: [UInt8]) -> [UInt8] {
        let size = format.planes[0].size
        return Array((0..<(size + unit.count)).map { unit[$0 % unit.count] }[..<size])
    }

    private func format(
        _ name: String,
        _ width: Int,
        _ height: Int,
        stride: Int,
        size: Int? = nil,
        color: ColorDescription = ColorDescription(colorSpace: 8)
    ) throws -> VideoFormat {
        VideoFormat(
            pixelFormat: try #require(PixelFormat(name: name)),
            width: width,
            height: height,
            interval: FrameInterval(framesPerSecond: 30),
            planes: [PlaneLayout(offset: 0, stride: stride, size: size ?? stride * height)],
            color: color
        )
    }

    /// The photo of a frame, as red, green and blue.
    private func photo(_ format: VideoFormat, _ bytes: [UInt8]) throws -> [UInt8] {
        let rig = try Rig(OutputDescription(name: "photo", kind: .photo, format: "png"), video: format)
        try rig.frame(bytes, at: 0)
        _ = try rig.finished(try rig.outcome())
        let out = Rig.temporaryPath("rgb")
        defer { unsafe unlink(out) }
        _ = try Probe.run("ffmpeg -v error -nostdin -y -i \(rig.path) -pix_fmt rgb24 -f rawvideo \(out)")
        return try Shell.bytes(out)
    }

    private func isNear(_ pixel: some Collection<UInt8>, _ wanted: [UInt8], by tolerance: Int = 2) -> Bool {
        zip(pixel, wanted).allSatisfy { abs(Int($0) - Int($1)) <= tolerance }
    }

    /// One orange pixel, 200, 120, 40, in each kind of packed word.
    private static let orange: [(String, [UInt8], [UInt8])] = [
        ("RGB3", [200, 120, 40], [200, 120, 40]), ("BGR3", [40, 120, 200], [200, 120, 40]),
        ("XR24", [40, 120, 200, 9], [200, 120, 40]), ("BX24", [9, 200, 120, 40], [200, 120, 40]),
        ("RX24", [9, 40, 120, 200], [200, 120, 40]), ("XB24", [200, 120, 40, 9], [200, 120, 40]),
        // 25, 30 and 5 of 31, 63 and 31.
        ("RGBP", [0xc5, 0xcb], [206, 121, 41]), ("RGBR", [0xcb, 0xc5], [206, 121, 41]),
        ("XR15", [0xe5, 0x65], [206, 123, 41]), ("AR15-BE", [0x65, 0xe5], [206, 123, 41]),
        ("RX15", [0xca, 0xcb], [206, 123, 41]), ("XB15", [0xf9, 0x15], [206, 123, 41]),
        ("R444", [0x72, 0x0c], [204, 119, 34]), ("GA12", [0xc0, 0x27], [204, 119, 34]),
        // Hue 30 degrees: 21 of 255, 15 of 180.
        ("HSV3", [21, 204, 200], [200, 120, 40]), ("HSV4", [9, 21, 204, 200], [200, 120, 40]),
    ]

    @Test(arguments: orange) func `a packed pixel has its colour`(row: (String, [UInt8], [UInt8])) throws {
        let format = try format(row.0, 6, 4, stride: 6 * row.1.count)
        let made = try photo(format, frame(format, row.1))
        #expect(made.count == 72)
        #expect(isNear(made.prefix(3), row.2), "\(made.prefix(3))")
        #expect(isNear(made.suffix(3), row.2), "\(made.suffix(3))")
    }

    @Test func `luma alone has the full range, unless the driver says otherwise`() throws {
        for (name, unit) in [("GREY", [255, 0] as [UInt8]), ("Y16-BE", [255, 255, 0, 0]), ("Y10", [255, 3, 0, 0])] {
            let stride = 4 * unit.count / 2
            let full = try format(name, 4, 4, stride: stride)
            #expect(try photo(full, frame(full, unit)).prefix(6) == [255, 255, 255, 0, 0, 0])
        }
        let limited = try format("GREY", 4, 4, stride: 4, color: ColorDescription(colorSpace: 8, quantization: 2))
        #expect(isNear(try photo(limited, frame(limited, [235, 16])).prefix(6), [255, 255, 255, 0, 0, 0]))
    }

    @Test func `red, green and blue of limited range become full`() throws {
        let limited = try format("RGB3", 4, 4, stride: 12, color: ColorDescription(colorSpace: 8, quantization: 2))
        #expect(isNear(try photo(limited, frame(limited, [235, 16, 126])).prefix(3), [255, 0, 128]))
    }

    @Test func `a photo of red, green and blue keeps each pixel`() throws {
        let format = try format("RGB3", 4, 2, stride: 12)
        let pixels: [UInt8] = [255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 0]
        #expect(try photo(format, pixels + pixels) == pixels + pixels)
    }

    private static let sensors: [(String, Int, [UInt8])] = [
        // The value of a pixel 0x60 in eight bits, packed as MIPI does it.
        ("BA81", 8, [0x60]), ("BG10", 16, [0x80, 1]), ("BG12", 16, [0, 6]), ("BG14", 16, [0, 0x18]),
        ("BYR2", 16, [0, 0x60]), ("pBAA", 10, [0x60, 0x60, 0x60, 0x60, 0]), ("pRCC", 12, [0x60, 0x60, 0]),
        ("pREE", 14, [0x60, 0x60, 0x60, 0x60, 0, 0, 0]),
    ]

    @Test(arguments: sensors) func `a sensor's grey is grey`(row: (String, Int, [UInt8])) throws {
        let format = try format(row.0, 8, 4, stride: row.1)
        #expect(try photo(format, frame(format, row.2)).allSatisfy { $0 == 0x60 })
    }

    @Test func `a sensor's colours are put where they are`() throws {
        // Rows of blue and green, green and red; red alone is lit.
        let dark: [UInt8] = [0, 0, 0, 0, 0, 0]
        let lit: [UInt8] = [0, 200, 0, 200, 0, 200]
        let bggr = try format("BA81", 6, 4, stride: 6)
        #expect(isNear(Array(try photo(bggr, dark + lit + dark + lit)[0..<3]), [200, 0, 0]))
        let rggb = try format("RGGB", 6, 4, stride: 6)
        #expect(isNear(Array(try photo(rggb, dark + lit + dark + lit)[0..<3]), [0, 0, 200]))
        // Ten bits, packed: the low bits of four pixels in the fifth byte.
        let packed = try format("pBAA", 4, 2, stride: 5)
        let bits = try photo(packed, [0, 0, 0, 0, 0, 0, 255, 0, 255, 0b11001100])
        #expect(bits.prefix(3).elementsEqual([255, 0, 0]), "\(bits.prefix(3))")
    }

    @Test(arguments: ["P010", "P012"]) func `luma and chroma in the high bits of words have their colour`(
        name: String
    ) throws {
        // Rows of luma end in two pixels that are no picture, and so do those of chroma; low bits mean nothing.
        let format = try format(
            name,
            4,
            2,
            stride: 12,
            size: 36,
            color: ColorDescription(colorSpace: 8, quantization: 2)
        )
        let luma: [UInt8] = [0xff, 81, 0x40, 81, 0, 81, 0xc0, 81, 9, 9, 9, 9]
        let chroma: [UInt8] = [0x3f, 90, 0xff, 240, 0, 90, 0x40, 240, 9, 9, 9, 9]
        let made = try photo(format, luma + luma + chroma)
        #expect(made.count == 24)
        #expect(stride(from: 0, to: 24, by: 3).allSatisfy { isNear(made[$0..<$0 + 3], [255, 0, 0], by: 4) }, "\(made)")
    }

    @Test func `at an odd width chroma in words is rounded up`() throws {
        let format = try format("P010", 5, 3, stride: 10, size: 30 + 2 * 12)
        let planes = try #require(PixelStructure(format.pixelFormat)?.planes(of: format))
        #expect(planes.map(\.offset) == [0, 30])
        #expect(planes.map(\.stride) == [10, 12])
        #expect(planes.map(\.row) == [10, 12])
        #expect(planes.map(\.rows) == [3, 2])
    }

    @Test func `the last column of an odd width has the chroma before it`() throws {
        // As vivid has it: rows of YUYV end in the middle of a pair.
        let format = try format("YUYV", 5, 2, stride: 10, color: ColorDescription(colorSpace: 8, quantization: 2))
        let row: [UInt8] = [81, 90, 81, 240, 81, 90, 81, 240, 81, 90]
        let made = try photo(format, row + row)
        #expect(made.count == 30)
        #expect(stride(from: 0, to: 30, by: 3).allSatisfy { isNear(made[$0..<$0 + 3], [255, 0, 0], by: 4) }, "\(made)")
    }

    @Test func `rows of chroma that a driver cuts off are not looked for`() throws {
        let format = try format("YU12", 5, 3, stride: 5, size: 15 + 2 * 3)
        let planes = try #require(PixelStructure(format.pixelFormat)?.planes(of: format))
        #expect(planes.map(\.offset) == [0, 15, 18])
        #expect(planes.map(\.rows) == [3, 1, 1])
        #expect(planes.map(\.row) == [5, 2, 2])
        // At some even widths vivid's frames end before the last row of Cr does.
        let short = try self.format("YU12", 642, 362, stride: 642, size: 348_244)
        let there = try #require(PixelStructure(short.pixelFormat)?.planes(of: short))
        #expect(there.map(\.rows) == [362, 181, 179])
        #expect(there[2].end <= 348_244)
        let rounded = try self.format("YU12", 5, 3, stride: 5, size: 15 + 2 * 6)
        let whole = try #require(PixelStructure(rounded.pixelFormat)?.planes(of: rounded))
        #expect(whole.map(\.rows) == [3, 2, 2])
        #expect(whole.map(\.row) == [5, 3, 3])
    }

    // As v4l2loopback 0.12 tells them: one and a half times the luma, cut to a number of bytes.
    @Test(arguments: [
        ("YU12", 321, 240), ("YU12", 320, 241), ("YU12", 321, 241), ("NV12", 321, 241), ("NV12", 320, 241),
    ])
    func `at odd sizes chroma is rounded up, though the frame is said to end before it does`(
        name: String,
        width: Int,
        height: Int
    ) throws {
        let format = try format(name, width, height, stride: width, size: width * height * 3 / 2)
        let planes = try #require(PixelStructure(format.pixelFormat)?.planes(of: format))
        let (across, down) = ((width + 1) / 2, (height + 1) / 2)
        if name == "NV12" {
            #expect(planes.map(\.offset) == [0, width * height])
            #expect(planes[1].stride == 2 * across)
        } else {
            #expect(planes.map(\.offset) == [0, width * height, width * height + across * down])
            #expect(planes.map(\.stride) == [width, across, across])
        }
        let last = try #require(planes.last)
        #expect(last.end <= width * height * 3 / 2 && last.rows >= down - 2)
    }

    @Test func `a frame whose rows hold no whole group of pixels is refused`() throws {
        for (name, stride) in [("YUYV", 1), ("YUYV", 3), ("RGB3", 2), ("Y16", 1)] {
            let format = try format(name, 8, 4096, stride: stride, size: 4096 * stride)
            #expect(PixelStructure(format.pixelFormat)?.planes(of: format) == nil, "\(name) of \(stride) bytes a row")
        }
    }

    @Test func `no format reads beyond its frame, whatever its numbers`() throws {
        for (pixelFormat, structure) in PixelStructure.table {
            for (width, height) in [(1, 1), (2, 2), (3, 3), (7, 5), (64, 3)] {
                for stride in [structure.planes[0].row(width), structure.planes[0].row(width) + 3] {
                    // Two thirds of chroma are missing.
                    let format = VideoFormat(
                        pixelFormat: pixelFormat,
                        width: width,
                        height: height,
                        interval: FrameInterval(framesPerSecond: 30),
                        planes: [PlaneLayout(offset: 0, stride: stride, size: stride * height + 1)]
                    )
                    guard let planes = structure.planes(of: format) else { continue }
                    #expect(planes.allSatisfy { $0.offset >= 0 && $0.row <= $0.stride && $0.rows > 0 })
                    #expect(planes[0].rows <= height && planes[0].end <= stride * height)
                }
            }
        }
    }
}
