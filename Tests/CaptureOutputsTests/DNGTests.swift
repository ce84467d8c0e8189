import CaptureCore
import CaptureSystem
import Glibc
import Testing

/// A photo of a sensor's own numbers, as programs for raw photos develop it.
@Suite struct `A DNG` {
    /// Red, green and blue of the quarters, from the upper left, row by row: as a screen shows them.
    private static let quarters: [[Double]] = [[200, 40, 40], [40, 180, 60], [60, 70, 210], [128, 128, 128]]
    static let (width, height) = (96, 64)

    struct Sensor: CustomTestStringConvertible, Sendable {
        let format: PixelFormat
        let order: PixelStructure.BayerOrder
        let depth: Int
        let isPacked: Bool
        var testDescription: String { "\(format) \(order.rawValue) \(depth)" }
    }

    /// 8 to 16 bits in four orders, unpacked, and packed as MIPI has it.
    static let sensors: [Sensor] = PixelStructure.table.compactMap { format, structure in
        guard case .bayer(let order) = structure.model else { return nil }
        return Sensor(format: format, order: order, depth: structure.depth, isPacked: structure.isMIPI)
    }

    /// A frame of the quarters, whose numbers stand for the light, or for how a screen shows it.
    static func frame(_ sensor: Sensor, isLinear: Bool, isLimited: Bool) throws -> (
        format: VideoFormat, bytes: [UInt8]
    ) {
        let plane = try #require(PixelStructure(sensor.format)).planes[0]
        let pitch = plane.row(width) + 8
        var bytes = [UInt8](repeating: 0, count: pitch * height)
        for y in 0..<height {
            var numbers: [Int] = []
            for x in 0..<width {
                let quarter = quarters[(y * 2 / height) * 2 + x * 2 / width]
                let letter = Array(sensor.order.rawValue)[y % 2 * 2 + x % 2]
                let signal = quarter[letter == "r" ? 0 : letter == "g" ? 1 : 2] / 255
                let light = signal <= 0.04045 ? signal / 12.92 : pow((signal + 0.055) / 1.055, 2.4)
                // As BT.709 codes light.
                let coded = light < 0.018 ? 4.5 * light : 1.099 * pow(light, 0.45) - 0.099
                let range =
                    isLimited ? (16 << (sensor.depth - 8), 219 << (sensor.depth - 8)) : (0, 1 << sensor.depth - 1)
                numbers.append(range.0 + Int(((isLinear ? light : coded) * Double(range.1)).rounded()))
            }
            bytes.replaceSubrange(y * pitch..<y * pitch + plane.row(width), with: row(numbers, sensor, plane))
        }
        let color =
            isLinear
            ? ColorDescription(colorSpace: 8, transfer: 2, quantization: isLimited ? 2 : 1)
            : ColorDescription(colorSpace: 3, transfer: 1, quantization: isLimited ? 2 : 1)
        let format = VideoFormat(
            pixelFormat: sensor.format,
            width: width,
            height: height,
            interval: FrameInterval(framesPerSecond: 30),
            planes: [PlaneLayout(offset: 0, stride: pitch, size: bytes.count)],
            color: color
        )
        return (format, bytes)
    }

    private static func row(_ numbers: [Int], _ sensor: Sensor, _ plane: PixelStructure.Plane) -> [UInt8] {
        if !sensor.isPacked {
            return numbers.flatMap { sensor.depth == 8 ? [UInt8($0)] : [UInt8($0 & 255), UInt8($0 >> 8)] }
        }
        let low = sensor.depth - 8
        return stride(from: 0, to: numbers.count, by: plane.across).flatMap { start -> [UInt8] in
            let group = numbers[start..<start + plane.across]
            let rest = group.enumerated().reduce(0) { $0 | ($1.element & (1 << low - 1)) << ($1.offset * low) }
            return group.map { UInt8($0 >> low) }
                + (0..<plane.group - plane.across).map { UInt8(rest >> (8 * $0) & 255) }
        }
    }

    static func photo(
        _ sensor: Sensor,
        isLinear: Bool,
        isLimited: Bool = false,
        hasJPEG: Bool = false,
        turned rotation: Int = 0,
        isMirrored: Bool = false
    ) throws -> Rig {
        let (format, bytes) = try frame(sensor, isLinear: isLinear, isLimited: isLimited)
        var output = OutputDescription(name: "photo", kind: .photo, format: "dng")
        (output.settings.rotation, output.settings.isMirrored) = (rotation, isMirrored)
        let rig = try Rig(output, video: format, companion: hasJPEG ? "jpeg" : nil, embedsCompanion: hasJPEG)
        try rig.frame(bytes, at: 0)
        #expect(try rig.finished(try rig.end()).videoEncoder == (hasJPEG ? "dng+mjpeg" : "dng"))
        return rig
    }

    /// What a developing program made of it, in 8 bits: the colours in the middle of the quarters.
    private static func colours(_ bitmap: [UInt8]) throws -> [[Double]] {
        // P6, width, height and 255, each a word, then the pixels.
        let header = bitmap.split(maxSplits: 4, whereSeparator: { [10, 32].contains($0) }).prefix(4)
        #expect(header.map { String(decoding: $0, as: UTF8.self) } == ["P6", "\(width)", "\(height)", "255"])
        let pixels = bitmap.suffix(width * height * 3)
        return [(1, 1), (3, 1), (1, 3), (3, 3)].map { x, y in
            let place = pixels.startIndex + (y * height / 4 * width + x * width / 4) * 3
            return pixels[place..<place + 3].map(Double.init)
        }
    }

    private static func isShown(_ colours: [[Double]]) -> Bool {
        zip(colours, quarters).allSatisfy { zip($0, $1).allSatisfy { abs($0 - $1) <= 5 } }
    }

    @Test(arguments: sensors, [true, false])
    func `has the sensor's colours in LibRaw`(sensor: Sensor, isLinear: Bool) throws {
        let rig = try Self.photo(sensor, isLinear: isLinear)
        #expect(try Self.isDeveloped(rig))
    }

    /// Whether LibRaw makes of it what the sensor saw.
    static func isDeveloped(_ rig: Rig) throws -> Bool {
        let out = Rig.temporaryPath("ppm")
        defer { unsafe unlink(out) }
        // As a screen shows them, without brightening, the colours between by the mean of the nearest.
        _ = try Probe.run("dcraw_emu -w -W -o 1 -g 2.4 12.92 -q 0 -Z \(out) \(rig.path)")
        return Self.isShown(try Self.colours(try Shell.bytes(out)))
    }

    @Test(arguments: [false, true])
    func `has them in darktable, which develops with RawSpeed, also beside a JPEG`(hasJPEG: Bool) throws {
        let folder = Rig.temporaryPath("darktable")
        defer { _ = try? Shell.run("rm -rf \(folder)") }
        // One start for all. What makes pictures prettier is left out.
        _ = try Probe.run("mkdir -p \(folder)/raw \(folder)/shown")
        for sensor in Self.sensors {
            let rig = try Self.photo(sensor, isLinear: !sensor.isPacked, hasJPEG: hasJPEG)
            _ = try Probe.run("cp \(rig.path) \(folder)/raw/\(sensor.format).dng")
        }
        let plain = ["workflow=none", "chromatic-adaptation=legacy"].map { "--conf plugins/darkroom/\($0)" }
        _ = try Probe.run(
            "darktable-cli \(folder)/raw \(folder)/shown --out-ext png --core --configdir \(folder)/settings "
                + "--disable-opencl \(plain.joined(separator: " "))"
        )
        for sensor in Self.sensors {
            let picture = "\(folder)/shown/\(sensor.format).png"
            _ = try Probe.run("ffmpeg -v error -i \(picture) -pix_fmt rgb24 \(picture).ppm")
            let colours = try Self.colours(try Shell.bytes("\(picture).ppm"))
            #expect(Self.isShown(colours), "\(sensor): \(colours)")
        }
    }

    @Test(arguments: sensors.filter { $0.order == .grbg && [8, 12].contains($0.depth) }, [true, false])
    func `of limited range has black at 16 and white at 235`(sensor: Sensor, isLinear: Bool) throws {
        #expect(try Self.isDeveloped(try Self.photo(sensor, isLinear: isLinear, isLimited: true)))
    }

    @Test func `says how it is turned and mirrored`() throws {
        let sensor = try #require(Self.sensors.first)
        let rig = try Self.photo(sensor, isLinear: true, turned: 90, isMirrored: true)
        #expect(try Probe.run("exiftool -n -s3 -Orientation \(rig.path)") == "7\n")
    }

    @Test func `is not made of a frame that breaks off`() throws {
        let sensor = try #require(Self.sensors.first)
        let (format, bytes) = try Self.frame(sensor, isLinear: true, isLimited: false)
        let rig = try Rig(OutputDescription(name: "photo", kind: .photo, format: "dng"), video: format)
        try rig.frame(Array(bytes.dropLast(bytes.count / 2)), at: 0)
        try rig.frame(bytes, at: 33_000_000)
        let made = try rig.finished(try rig.end())
        #expect(made.missedFrames == 1 && made.frames == 1)
    }

    @Test func `there are four orders of five depths, and three of them packed`() {
        #expect(Set(Self.sensors.map(\.depth)) == [8, 10, 12, 14, 16])
        #expect(Self.sensors.count == 32 && Self.sensors.filter(\.isPacked).count == 12)
    }

    @Test func `says what is known of the photo`() throws {
        let sensor = try #require(Self.sensors.first { $0.depth == 10 })
        let rig = try Self.photo(sensor, isLinear: true, turned: 90)
        let tags = [
            "Make": "Maker", "Model": "HD Kamera Ü", "Orientation": "6", "ISO": "400",
            "ExposureMode": "1", "WhiteBalance": "0", "ColorSpace": "65535", "WhiteLevel": "1023", "BlackLevel": "0",
            "DNGVersion": "1 4 0 0", "UniqueCameraModel": "Maker HD Kamera Ü", "ExifImageWidth": "\(Self.width)",
            "UserComment": "Gain 7",
        ]
        for (tag, value) in tags {
            #expect(try Probe.run("exiftool -n -s3 -\(tag) \(rig.path)") == value + "\n", "\(tag)")
        }
        let exposure = Double(try Probe.run("exiftool -n -s3 -ExposureTime \(rig.path)").dropLast())
        #expect(exposure.map { abs($0 - 0.02) < 1e-6 } == true)
        #expect(try Probe.run("exiftool -validate -warning -a -s3 \(rig.path)").hasPrefix("OK"))
    }

    @Test func `is not made of anything else`() throws {
        let output = OutputDescription(name: "photo", kind: .photo, format: "dng")
        let rig = try Rig(output, video: Material.yuyv(64, 48))
        guard case .failed(let error, _) = try rig.ready() else {
            Issue.record("it was made")
            return
        }
        #expect(error.code == .noSuchFormat && error.message.contains("YUYV"))
    }
}
