import CaptureCore
import CaptureRing
import MediaConversion
import TestWidth
import Testing

/// A picture of four fields of one colour each, in any format, and what conversions make of it.
enum ColorFields {
    /// Red, green, blue and grey, as bytes of red, green and blue.
    static let colors: [(Int, Int, Int)] = [(200, 40, 40), (40, 180, 40), (40, 60, 200), (128, 128, 128)]

    static func color(_ x: Int, _ y: Int, _ width: Int, _ height: Int) -> (Int, Int, Int) {
        colors[(y * 2 / height) * 2 + x * 2 / width]
    }

    /// BT.601 or BT.709, full or limited range.
    static func mixed(_ rgb: (Int, Int, Int), isFull: Bool, is709: Bool) -> [UInt8] {
        let (kr, kb) = is709 ? (0.2126, 0.0722) : (0.299, 0.114)
        let (r, g, b) = (Double(rgb.0) / 255, Double(rgb.1) / 255, Double(rgb.2) / 255)
        let y = kr * r + (1 - kr - kb) * g + kb * b
        let (cb, cr) = ((b - y) / (2 * (1 - kb)), (r - y) / (2 * (1 - kr)))
        let all = isFull ? [y * 255, 128 + cb * 255, 128 + cr * 255] : [16 + y * 219, 128 + cb * 224, 128 + cr * 224]
        return all.map { UInt8(max(0, min(255, $0.rounded()))) }
    }

    static func format(
        _ pixelFormat: PixelFormat,
        _ width: Int,
        _ height: Int,
        _ color: ColorDescription = ColorDescription()
    ) throws -> VideoFormat {
        let planes = try #require(PixelStructure(pixelFormat)).planes
        let size = planes.reduce(0) { $0 + $1.row(width) * $1.rows(height) }
        return VideoFormat(
            pixelFormat: pixelFormat,
            width: width,
            height: height,
            interval: FrameInterval(framesPerSecond: 30),
            planes: [PlaneLayout(offset: 0, stride: planes[0].row(width), size: size)],
            color: color
        )
    }

    /// The bytes of a frame of a format whose components are whole bytes.
    static func frame(_ format: VideoFormat, isFull: Bool, is709: Bool) throws -> [UInt8] {
        let structure = try #require(PixelStructure(format.pixelFormat))
        let planes = try #require(structure.planes(of: format))
        var bytes = [UInt8](repeating: 255, count: format.frameSize)
        for y in 0..<format.height {
            for x in 0..<format.width {
                let rgb = color(x, y, format.width, format.height)
                let values =
                    structure.model == .rgb
                    ? [UInt8(rgb.0), UInt8(rgb.1), UInt8(rgb.2)] : mixed(rgb, isFull: isFull, is709: is709)
                for (component, value) in zip(structure.components, values) {
                    let plane = planes[component.plane]
                    let row = plane.offset + y / component.down * plane.stride
                    bytes[row + component.offset + x / component.across * component.step] = value
                }
            }
        }
        return bytes
    }

    /// A buffer of a ring with a frame.
    static func buffer(_ format: VideoFormat, _ bytes: [UInt8]) throws -> (RingWriter, RingBuffer) {
        let ring = try RingWriter(format: .video(format), slots: 4, kept: 1, name: "colours")
        let reader = try RingReader(mapping: ring.file)
        let slot = try #require(ring.claim())
        unsafe bytes.withUnsafeBytes { unsafe ring.memory(ofSlot: slot).copyMemory(from: $0) }
        ring.publish(
            slot,
            BufferInfo(
                timestamp: Timestamp(nanoseconds: 1),
                deviceSequence: 1,
                bytesUsed: (bytes.count, 0, 0, 0),
                flags: []
            )
        )
        guard case .buffer(let buffer) = try reader.next(timeout: 0) else { throw CaptureError(.badData, "no buffer") }
        return (ring, buffer)
    }

    /// How far the middles of the fields are from what they should be, at most.
    static func error(_ bytes: [UInt8], _ format: VideoFormat, isFull: Bool, is709: Bool) throws -> Int {
        let structure = try #require(PixelStructure(format.pixelFormat))
        let planes = try #require(structure.planes(of: format))
        var most = 0
        for (x, y) in [(1, 1), (3, 1), (1, 3), (3, 3)] {
            let (x, y) = (x * format.width / 4, y * format.height / 4)
            let rgb = color(x, y, format.width, format.height)
            let wanted: [Int] =
                structure.model == .rgb
                ? [rgb.0, rgb.1, rgb.2] : mixed(rgb, isFull: isFull, is709: is709).map { Int($0) }
            for (component, value) in zip(structure.components, wanted) {
                let plane = planes[component.plane]
                let row = plane.offset + y / component.down * plane.stride
                let found = bytes[row + component.offset + x / component.across * component.step]
                most = max(most, abs(Int(found) - value))
            }
        }
        return most
    }
}

@Suite struct VideoConverterTests {
    @Test func `sizes and strides that libyuv cannot reckon with are refused`() throws {
        func format(_ name: String, _ width: Int, _ height: Int, stride: Int, planes: Int = 1) throws -> VideoFormat {
            VideoFormat(
                pixelFormat: try #require(PixelFormat(name: name)),
                width: width,
                height: height,
                interval: FrameInterval(framesPerSecond: 30),
                planes: (0..<planes).map { _ in PlaneLayout(offset: 0, stride: stride, size: Int(UInt32.max)) }
            )
        }
        for format in [
            try format("NV16", 16, 1, stride: 0x7fff_ffff), try format("NM16", 16, 2, stride: 0x7fff_ffff, planes: 2),
            try format("YUYV", 65536, 2, stride: 131_072), try format("GREY", 2, 65536, stride: 2),
            try format("MJPG", 65536, 65536, stride: 0),
        ] {
            let error = try #require(throws: CaptureError.self) {
                try VideoConverter(format, to: .nv12, width: 16, height: 16)
            }
            #expect(error.code == .noSuchFormat && error.message.contains("16384"))
        }
        // The recorder converts without scaling, with the same routines.
        let wide = try format("NM16", 16, 2, stride: 0x7fff_ffff, planes: 2)
        let structure = try #require(PixelStructure(wide.pixelFormat))
        let layout = PictureLayout(width: 16, height: 2, samples: .yuv420)
        let error = try #require(throws: CaptureError.self) { try RawConverter(wide, structure, to: layout) }
        #expect(error.code == .invalidArgument)
    }

    /// A frame of each format, of BT.601 with limited and full range, and of BT.709.
    private static let sources = Result { try made() }

    private struct Source: @unchecked Sendable {
        let format: VideoFormat
        let ring: RingWriter
        let buffer: RingBuffer
    }

    private static func made() throws -> [Source] {
        try names.flatMap { name in
            try ([(1, 2), (1, 1), (2, 2)] as [(UInt32, UInt32)]).compactMap { pair -> Source? in
                let (encoding, quantization) = pair
                let color = ColorDescription(colorSpace: 8, encoding: encoding, quantization: quantization)
                let format = try ColorFields.format(try #require(PixelFormat(name: name)), 48, 32, color)
                let isFull = quantization == 1
                // Red, green and blue of limited range are no camera's.
                if PixelStructure(format.pixelFormat)?.model == .rgb, !isFull { return nil }
                let bytes = try ColorFields.frame(format, isFull: isFull, is709: encoding == 2)
                let (ring, buffer) = try ColorFields.buffer(format, bytes)
                return Source(format: format, ring: ring, buffer: buffer)
            }
        }
    }

    private static let names = ["YUYV", "UYVY", "NV12", "NV21", "YU12", "422P", "NV24", "RGB3", "BGR3", "XR24", "AB24"]

    @Test(arguments: VideoConverter.pixelFormats)
    func `colours come out as they were, in the camera's size and in another`(target: PixelFormat) throws {
        for source in try VideoConverterTests.sources.get() {
            for (width, height) in [(48, 32), (24, 16), (64, 48)] {
                let converter = try VideoConverter(source.format, to: target, width: width, height: height)
                var picture = [UInt8](repeating: 0, count: converter.capacity)
                let made = unsafe picture.withUnsafeMutableBytes { unsafe converter.convert(source.buffer, into: $0) }
                #expect(made == picture.count)
                let format = converter.format
                #expect((format.width, format.height, format.pixelFormat) == (width, height, target))
                // What the frame says of itself is what holds.
                let difference = try ColorFields.error(
                    picture,
                    format,
                    isFull: format.color.quantization == 1,
                    is709: format.color.encoding == 2
                )
                // libyuv's numbers for BT.709 are a little off.
                let most = source.format.color.encoding == 2 ? 6 : 4
                #expect(difference <= most, "\(source.format) \(source.format.color) to \(target), \(width)x\(height)")
                if format.pixelFormat == .bgra32 { #expect(picture[3] == 255) }
            }
        }
    }

    @Test func `what cannot be converted is named`() throws {
        let source = try ColorFields.format(.yuyv, 64, 48)
        var compressed = source
        compressed.pixelFormat = .h264
        let error = try #require(throws: CaptureError.self) {
            try VideoConverter(compressed, to: .nv12, width: 64, height: 48)
        }
        #expect(error.code == .noSuchFormat && error.message.contains("H264"))
        let other = try #require(throws: CaptureError.self) {
            try VideoConverter(source, to: .hevc, width: 64, height: 48)
        }
        #expect(other.message.contains("HEVC") && other.message.contains("NV12"))
    }
}
