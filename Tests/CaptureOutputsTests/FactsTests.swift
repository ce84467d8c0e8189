@testable import CaptureOutputs
@testable import MediaExamination

import CaptureCore
import CaptureSystem
import Glibc
import Testing

/// Files say when and by what they were made, to the programs that look for it.
@Suite struct FactsTests {
    private static let formats = Material.movies + Material.sounds + Material.photos
    private static let tags: [FileTag: String] = [
        .title: "Vorlesung; eins=1", .description: "Over \\ \"all\"", .author: "Ann", .copyright: "© Ann",
        .comment: "no comment", .location: "+48.1371+011.5754+519/",
    ]

    /// Makes a file of a format.
    ///
    /// - Parameter tags: What it says of itself, if its format keeps that.
    private func record(_ format: String, _ tags: [FileTag: String] = tags) throws -> Rig {
        let isPhoto = Material.photos.contains(format)
        let isMovie = Material.movies.contains(format)
        let pictures = Material.yuyv()
        let known = FileTag.known(to: format)
        let rig = try Rig(
            OutputDescription(
                name: "f",
                kind: isPhoto ? .photo : isMovie ? .movie : .sound,
                format: format,
                tags: tags.filter { known.contains($0.key) }
            ),
            video: isPhoto || isMovie ? pictures : nil,
            audio: isPhoto ? nil : Material.stereo
        )
        if isPhoto {
            try rig.frame(Material.flat(90, pictures), at: 0)
            _ = try rig.finished(try rig.outcome())
            return rig
        }
        for index in 0..<30 where isMovie {
            try rig.frame(Material.flat(90, pictures), at: Int64(index) * 33_333_333)
        }
        try rig.tone(periods: 100)
        _ = try rig.finished(try rig.end())
        return rig
    }

    /// When the streams of tests begin, by the clock on the wall: to the second, UTC.
    private var second: Int64 {
        var now = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        return (Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec) - (Timestamp.now - Rig.epoch)) / 1_000_000_000
    }

    private var zone: String { WallTime(Rig.epoch).zone }

    /// That second by a pattern of strftime, UTC and local; the clocks that are compared may be at the edge of the next.
    private func texts(_ pattern: String) -> [String] {
        let offset = WallTime(Rig.epoch).offset
        let seconds = [second - 1, second, second + 1]
        return (seconds + seconds.map { $0 + offset }).map { second in
            var time = time_t(second)
            var parts = unsafe tm()
            unsafe gmtime_r(&time, &parts)
            var text = [CChar](repeating: 0, count: 64)
            let count = unsafe strftime(&text, text.count, pattern, &parts)
            return String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }

    /// A row of the table in docs/files.md: what a format holds, and how each program calls that.
    private struct Row {
        var holds: String
        var names: [String]
    }

    private static func rows(of format: String) throws -> [Row] {
        let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        return try Shell.read("/\(root)/docs/files.md").split(separator: "\n").compactMap { line in
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
                .map { $0.split(separator: " ").joined(separator: " ") }
            guard cells.count == 7, cells[1] == format else { return nil }
            return Row(holds: cells[2], names: Array(cells[3...5]))
        }
    }

    /// What may stand in a field.
    private func values(_ holds: String) -> [String] {
        switch holds {
        case "camera": [Rig.origin.camera]
        case "maker": [Rig.origin.cameraMaker]
        case "microphone": [Rig.origin.microphone]
        case "program": ["Captured 1.0.0"]
        case "location": ["+48.1371+011.5754+519/", "48 deg 8' 13.56\" N"]
        case _ where FileTag(rawValue: holds) != nil: [FileTag(rawValue: holds).flatMap { Self.tags[$0] } ?? ""]
        case "exposure": ["1/50"]
        case "gain": ["Gain 7"]
        case "sensitivity": [": 400"]
        case "exposure mode": ["Manual"]
        case "exposure bias": ["-1/2"]
        case "white balance": ["Auto"]
        case "thumbnail": ["Binary data"]
        case "zone": [zone]
        case "date":
            ["%Y:%m:%d %H:%M:%S", "%Y:%m:%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S"].flatMap(texts)
        case "date with zone": values("date").map { $0 + "." }
        default: []
        }
    }

    @Test(arguments: formats) func `exiftool, ffprobe and mediainfo find what the table of fields says`(
        format: String
    ) throws {
        let rig = try record(format)
        let said = [
            try Probe.run("exiftool -a -s \(rig.path)"),
            try Probe.run("ffprobe -v error -show_entries format_tags:stream_tags -of default=nw=1 \(rig.path)"),
            try Probe.run("mediainfo \(rig.path)"),
        ].map { $0.split(separator: "\n").map(String.init) }
        let rows = try Self.rows(of: format)
        #expect(rows.count >= 3)
        for row in rows {
            for (name, lines) in zip(row.names, said) where !name.isEmpty {
                let found = lines.filter { $0.hasPrefix(name + " ") || $0.hasPrefix("TAG:" + name + "=") }
                let isThere = found.contains { line in values(row.holds).contains { line.contains($0) } }
                let zones = [zone] + (zone == "+00:00" ? ["Z", "UTC"] : [])
                let isZoned =
                    row.holds != "date with zone"
                    || found.contains { line in zones.contains { line.hasSuffix($0) || line.contains($0 + " ") } }
                #expect(isThere && isZoned, "\(row.holds) as \(name): \(found) among \(lines)")
            }
        }
    }

    @Test(arguments: Material.movies + Material.sounds) func `a file names the program that its program says`(
        format: String
    ) throws {
        let rig = try record(format, [.software: "Dashcam 2.0"])
        let row = try #require(try Self.rows(of: format).last { $0.holds == "program" })
        let said = try Probe.run("ffprobe -v error -show_entries format_tags:stream_tags -of default=nw=1 \(rig.path)")
        #expect(said.split(separator: "\n").contains("TAG:\(row.names[1])=Dashcam 2.0"), "\(said)")
        #expect(try Probe.decodes(rig.path))
    }

    @Test(arguments: ["mkv", "mp4"]) func `a file that says much is no larger than it may be`(format: String) throws {
        let pictures = Material.yuyv()
        var output = OutputDescription(name: "f", kind: .movie, format: format, maxFileSize: 65_536)
        for tag in FileTag.allCases where tag != .location {
            output.tags[tag] = String(repeating: "x", count: FileTag.longest)
        }
        let rig = try Rig(output, video: pictures)
        let noise = (0..<4).map { Material.noise(pictures, seed: $0, bits: 6) }
        for index in 0..<60 { try rig.frame(noise[index % 4], at: Int64(index) * 33_333_333) }
        let report = try rig.end()
        #expect(try Shell.bytes(rig.path).count <= 65_536, "\(report)")
    }

    @Test(arguments: Material.photos) func `a photo says the same in XMP, whatever the camera's name`(format: String)
        throws
    {
        let rig = try record(format)
        func xmp(_ tag: String) throws -> String {
            String(try Probe.run("exiftool -s3 -XMP:\(tag) \(rig.path)").split(separator: "\n").first ?? "")
        }
        #expect(try xmp("Model") == Rig.origin.camera)
        #expect(try xmp("Make") == Rig.origin.cameraMaker)
        #expect(try xmp("CreatorTool") == "Captured 1.0.0")
        let date = try Probe.run("exiftool -s3 -EXIF:DateTimeOriginal \(rig.path)").dropLast()
        #expect(try xmp("DateTimeOriginal").hasPrefix(date) && xmp("CreateDate").hasSuffix(zone))
        #expect(try Probe.run("exiftool -validate -s3 \(rig.path) | head -1").hasPrefix("OK"))
        let odd = FileFacts(CaptureOrigin(camera: "A&B <\"c\">\u{1}\u{ffff}é"), at: Rig.epoch)
        #expect(String(decoding: XMPPacket.bytes(odd), as: UTF8.self).contains("\"A&amp;B &lt;&quot;c&quot;&gt;é\""))
    }

    @Test func `XMP of the camera's own stays, and is the only one`() throws {
        let rig = try record("jpeg")
        var camera = try Shell.bytes(rig.path)
        let name = Array(Rig.origin.cameraMaker.utf8)
        let place = try #require(camera.indices.last { camera[$0...].starts(with: name) })
        camera[place] = UInt8(ascii: "m")
        let made = try PhotoFacts.jpeg(camera, FileFacts(Rig.origin, at: Rig.epoch), width: 320, height: 240)
        #expect(made.indices.filter { made[$0...].starts(with: XMPPacket.signature) }.count == 1)
        #expect(made.indices.contains { made[$0...].starts(with: Array("tiff:Make=\"maker".utf8)) })
        #expect(made.indices.filter { made[$0...].starts(with: EXIFBlock.signature) }.count == 1)
    }

    @Test func `EXIF of the camera's own goes, whatever fills up before it`() throws {
        let rig = try record("jpeg")
        let camera = try Shell.bytes(rig.path)
        let signature = try #require(camera.indices.first { camera[$0...].starts(with: EXIFBlock.signature) })
        for count in 1...3 {
            var filled = camera
            filled.insert(contentsOf: [UInt8](repeating: 0xff, count: count), at: signature - 4)
            let made = try PhotoFacts.jpeg(filled, FileFacts(Rig.origin, at: Rig.epoch), width: 320, height: 240)
            #expect(made.indices.filter { made[$0...].starts(with: EXIFBlock.signature) }.count == 1)
        }
        // A segment that says it is shorter than its own length.
        var short = camera
        short.replaceSubrange(signature - 4..<signature, with: [0xff, 0xfe, 0, 4, 0xff, 0xe1, 0, 0])
        _ = try? PhotoFacts.jpeg(short, FileFacts(Rig.origin, at: Rig.epoch), width: 320, height: 240)
    }

    @Test(arguments: ["쉬는 시간", "#ツ", ""])
    func `a Matroska file that breaks off says how long it is, and what it is called`(title: String) throws {
        let pictures = Material.yuyv()
        let rig = try Rig(
            OutputDescription(name: "f", kind: .movie, format: "mkv", tags: title.isEmpty ? [:] : [.title: title]),
            video: pictures
        )
        for index in 0..<90 { try rig.frame(Material.flat(90, pictures), at: Int64(index) * 33_333_333) }
        try rig.progress { $0.duration > 1_000_000_000 }
        // As somebody finds it whose recorder is killed now.
        let found = try Probe.values(rig.path, "-show_entries format=duration:format_tags=title")
        #expect(found.first.flatMap(Double.init).map { $0 > 0.9 } == true, "\(found)")
        #expect(found.count == (title.isEmpty ? 1 : 2) && (title.isEmpty || found.last == title), "\(found)")
        #expect(try Probe.run("ffprobe -v error \(rig.path) 2>&1").isEmpty)
        _ = try rig.finished(try rig.end())
    }

    @Test(arguments: Material.photos) func `a photo has a thumbnail of its shape, and an id of its own`(
        format: String
    ) throws {
        let (rig, other) = (try record(format), try record(format))
        let small = Rig.temporaryPath("jpg")
        defer { unsafe unlink(small) }
        _ = try Probe.run("exiftool -b -ThumbnailImage \(rig.path)")
        _ = try Shell.run("exiftool -b -ThumbnailImage \(rig.path) > \(small)")
        #expect(try Probe.values(small, "-show_entries stream=codec_name,width,height") == ["mjpeg", "160", "120"])
        // The one grey of the picture, luma 90 of limited range.
        let gray = Rig.temporaryPath("gray")
        defer { unsafe unlink(gray) }
        _ = try Probe.run("ffmpeg -v error -i \(small) -pix_fmt gray -f rawvideo \(gray)")
        #expect(try Shell.bytes(gray).allSatisfy { abs(Int($0) - 86) <= 3 })
        let ids = try [rig, other].map { try Probe.run("exiftool -s3 -ImageUniqueID \($0.path)").dropLast() }
        #expect(ids[0] != ids[1] && ids.allSatisfy { $0.count == 32 && $0.allSatisfy(\.isHexDigit) }, "\(ids)")
        let faults = try Probe.run("exiftool -validate -warning -a -s3 \(rig.path)")
        #expect(faults == "OK\n", "\(faults)")
    }

    /// A recorder that is killed leaves the fields of the header.
    @Test(arguments: Material.movies + Material.sounds) func `what is interrupted says it too`(
        format: String
    ) throws {
        let isMovie = Material.movies.contains(format)
        let pictures = Material.yuyv()
        let rig = try Rig(
            OutputDescription(name: "f", kind: isMovie ? .movie : .sound, format: format),
            video: isMovie ? pictures : nil,
            audio: Material.stereo,
            process: RecorderProcess.Limits(fileBlocks: nil)
        )
        for index in 0..<90 where isMovie {
            try rig.frame(Material.flat(90, pictures), at: Int64(index) * 33_333_333)
        }
        try rig.tone(periods: 300)
        try rig.progress { $0.samples >= 3 * 48000 && $0.queueDepth == 0 }
        rig.process?.kill(SIGKILL)
        _ = try rig.process?.wait()
        let exif = try Probe.run("exiftool -a -s \(rig.path)")
        #expect(exif.contains("Captured 1.0.0") && exif.contains(Rig.origin.microphone), "\(exif)")
        #expect(values("date").contains { exif.contains($0) }, "\(exif)")
    }

    @Test func `a moment is told in its zone`() {
        let time = WallTime(seconds: 1_714_566_645, nanoseconds: 67_800_000, offset: -(3 * 3600 + 30 * 60))
        #expect(time.iso == "2024-05-01T09:00:45.067-03:30")
        #expect(time.utc == "2024-05-01T12:30:45.067Z")
        #expect((time.exif, time.zone) == ("2024:05:01 09:00:45", "-03:30"))
        #expect(MediaDate.iso(time.iso) == MediaDate.iso(time.utc))
        #expect(MediaDate.exif(time.exif, fraction: time.thousandths, zone: time.zone) == MediaDate.iso(time.utc))
    }

    @Test(arguments: formats) func `the library reads back when a file was made`(format: String) throws {
        let rig = try record(format)
        let run = try ImportRun(.examine(isWhole: true), Descriptor.open(rig.path, O_RDONLY))
        _ = try run.bytes()
        guard case .examined(let media) = try run.report() else { throw CaptureError(.badData, "refused") }
        #expect(abs((media.created ?? 0) / 1000 - second) <= 1)
    }
}
