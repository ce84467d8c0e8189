import CaptureCore
import CaptureSystem
import Glibc
import Testing

/// A raw photo that has its JPEG inside, as one file.
@Suite struct `A DNG with a JPEG inside` {
    private typealias Raw = `A DNG`

    private static let sensors = Raw.sensors.filter { $0.order == .rggb }

    /// The JPEG, as exiftool takes it out.
    private func jpeg(in path: String) throws -> MediaFile {
        let out = Rig.temporaryPath("jpg")
        defer { unsafe unlink(out) }
        _ = try Probe.run("(exiftool -b -PreviewImage \(path) > \(out))")
        return try MediaFile(try Shell.bytes(out), "jpg")
    }

    private func pixels(_ path: String) throws -> [UInt8] {
        let out = Rig.temporaryPath("rgb")
        defer { unsafe unlink(out) }
        _ = try Probe.run("ffmpeg -v error -i \(path) -pix_fmt rgb24 -f rawvideo \(out)")
        return try Shell.bytes(out)
    }

    private func tags(_ path: String) throws -> String {
        try Probe.run("exiftool -n -T -DateTimeOriginal -SubSecTimeOriginal -Orientation -Model \(path)")
    }

    @Test(arguments: sensors) func `is developed as before, and shows the JPEG of the same frame`(
        sensor: `A DNG`.Sensor
    ) throws {
        let rig = try Raw.photo(sensor, isLinear: true, hasJPEG: true)
        #expect(try Raw.isDeveloped(rig))
        let inside = try jpeg(in: rig.path)
        // The very bytes, which say of themselves what the DNG says.
        let whole = try Shell.bytes(rig.path)
        let found = try #require(
            try DNGPreview.find(size: Int64(whole.count)) { Array(whole[Int($0)..<Int($0) + $1]) }
        )
        #expect(try Array(whole[Int(found.place)..<Int(found.place) + found.count]) == Shell.bytes(inside.path))
        #expect((found.width, found.height) == (Raw.width, Raw.height))
        #expect(try tags(inside.path) == tags(rig.path))
        // As it would be beside the DNG.
        let (format, bytes) = try Raw.frame(sensor, isLinear: true, isLimited: false)
        let output = OutputDescription(name: "pair", kind: .photo, format: "dng")
        let pair = try Rig(output, video: format, burst: 2, companion: "jpeg")
        try pair.frame(bytes, at: 0)
        _ = try pair.finished(try pair.end())
        #expect(try pixels(inside.path) == pixels(pair.others[0]))
        let check = try Probe.run("exiftool -validate -warning -a -s3 \(rig.path)")
        // exiftool knows SubIFDs as plain numbers; libtiff writes them as what they are, a type of TIFF's supplement.
        let faults = check.split(separator: "\n").dropFirst().filter { !$0.contains("format (ifd) for IFD0 0x014a") }
        #expect(faults.isEmpty, "\(check)")
        // A reader of TIFF finds the size and the sampling of the JPEG as they are.
        let told = try Probe.run(
            "exiftool -n -T -SubIFD:SubfileType -SubIFD:ImageWidth -SubIFD:ImageHeight -SubIFD:Compression "
                + "-SubIFD:PhotometricInterpretation -SubIFD:YCbCrSubSampling \(rig.path)"
        )
        let sampling = try Probe.run("exiftool -n -s3 -File:YCbCrSubSampling \(inside.path)").dropLast()
        #expect(told == "1\t96\t64\t7\t6\t\(sampling)\n")
    }

    @Test func `turns both by the same tag`() throws {
        let sensor = try #require(Self.sensors.first)
        let rig = try Raw.photo(sensor, isLinear: true, hasJPEG: true, turned: 90)
        let inside = try jpeg(in: rig.path)
        for path in [rig.path, inside.path] {
            #expect(try Probe.run("exiftool -n -s3 -IFD0:Orientation \(path)") == "6\n")
        }
    }

    @Test func `is one file for each picture of a burst, with the JPEG of its own frame`() throws {
        let sensor = try #require(Self.sensors.first { $0.depth == 8 })
        let (format, bytes) = try Raw.frame(sensor, isLinear: true, isLimited: false)
        let output = OutputDescription(name: "burst", kind: .photo, format: "dng")
        let rig = try Rig(output, video: format, burst: 3, companion: "jpeg", embedsCompanion: true)
        for index in 0..<3 { try rig.frame(bytes.map { $0 >> UInt8(index) }, at: Int64(index) * 33_333_333) }
        let made = try rig.finished(try rig.end())
        let paths = [rig.path] + rig.others
        #expect(made.frames == 3)
        #expect(try made.pictures.map(\.bytes) == paths.map { UInt64(try Shell.bytes($0).count) })
        let insides = try paths.map(jpeg)
        let light = try insides.map { inside in try pixels(inside.path).reduce(0) { $0 + Int($1) } }
        #expect(light[0] > light[1] && light[1] > light[2], "\(light)")
    }

    @Test func `is not made of a frame that breaks off, nor of other formats`() throws {
        let sensor = try #require(Self.sensors.first)
        let (format, bytes) = try Raw.frame(sensor, isLinear: true, isLimited: false)
        let output = OutputDescription(name: "photo", kind: .photo, format: "dng")
        let rig = try Rig(output, video: format, companion: "jpeg", embedsCompanion: true)
        try rig.frame(Array(bytes.dropLast(bytes.count / 2)), at: 0)
        try rig.frame(bytes, at: 33_000_000)
        let made = try rig.finished(try rig.end())
        #expect(made.frames == 1 && made.pictures.count == 1, "\(made)")
        #expect(try Raw.isDeveloped(rig))
        for (first, second) in [("dng", "png"), ("png", "jpeg"), ("jpeg", "dng")] {
            let output = OutputDescription(name: "photo", kind: .photo, format: first)
            let rig = try Rig(output, video: format, companion: second, embedsCompanion: true)
            let error = try rig.fault(try rig.outcome())
            #expect(error.code == .invalidArgument && error.message.contains("inside"), "\(error)")
        }
    }

    @Test func `gives the library's thumbnails, unless it is damaged or a lie`() throws {
        let sensor = try #require(Self.sensors.first)
        let rig = try Raw.photo(sensor, isLinear: true, hasJPEG: true, turned: 90)
        let whole = try Shell.bytes(rig.path)
        let (media, thumbnails) = try ImportRun.examine(try MediaFile(whole))
        #expect((media.codec, media.mediaType) == ("dng", "image/x-adobe-dng"))
        #expect((media.width, media.height) == (64, 96))
        #expect(try ImportRun.examine(try jpeg(in: rig.path)).thumbnails == thumbnails)
        let plain = try Raw.photo(sensor, isLinear: true, turned: 90)
        let developed = try ImportRun.examine(try MediaFile(try Shell.bytes(plain.path))).thumbnails
        #expect(developed != thumbnails)
        let found = try #require(
            try DNGPreview.find(size: Int64(whole.count)) { Array(whole[Int($0)..<Int($0) + $1]) }
        )
        let start = Int(found.place)
        var damaged = whole
        for place in start + found.count / 2..<start + found.count - 2 { damaged[place] = 0xff }
        var lying = whole
        lying[start] = 0
        for bytes in [damaged, lying] {
            let (media, thumbnails) = try ImportRun.examine(try MediaFile(bytes))
            #expect(media.codec == "dng" && thumbnails == developed)
        }
    }
}
