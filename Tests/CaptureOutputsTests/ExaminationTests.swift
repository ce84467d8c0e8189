import CaptureCore
import CaptureSystem
import Glibc
import Testing

/// What a file holds, by the real program in its sandbox.
@Suite struct ExaminationTests {
    /// The facts of a file that ffmpeg made, in the order of `expected`.
    struct Row: CustomTestStringConvertible {
        let format: String
        let expected: ExaminedMedia
        var testDescription: String { format }

        init(
            _ format: String,
            _ kind: MediaAssetKind,
            _ type: String,
            _ codec: String,
            created: Int64? = nil
        ) {
            self.format = format
            let side: (UInt32, UInt32) = kind == .photo ? (640, 480) : kind == .movie ? (320, 240) : (0, 0)
            expected = ExaminedMedia(
                kind: kind,
                mediaType: type,
                codec: codec,
                width: side.0,
                height: side.1,
                duration: kind == .photo ? 0 : 3_000_000_000,
                created: created
            )
        }
    }

    static let rows = [
        Row("jpeg", .photo, "image/jpeg", "mjpeg"), Row("png", .photo, "image/png", "png"),
        Row("webp", .photo, "image/webp", "webp"), Row("tiff", .photo, "image/tiff", "tiff"),
        Row("gif", .photo, "image/gif", "gif"), Row("avif", .photo, "image/avif", "av1"),
        Row("mp4", .movie, "video/mp4", "h264+aac", created: 1_714_566_645_000),
        Row("fragments", .movie, "video/mp4", "h264+aac"), Row("mov", .movie, "video/quicktime", "h264+aac"),
        Row("mkv", .movie, "video/x-matroska", "h264+opus"), Row("webm", .movie, "video/webm", "vp8+opus"),
        Row("wav", .sound, "audio/wav", "pcm_s16le"), Row("flac", .sound, "audio/flac", "flac"),
        Row("opus", .sound, "audio/ogg", "opus"), Row("ogg", .sound, "audio/ogg", "vorbis"),
        Row("m4a", .sound, "audio/mp4", "aac"), Row("mp3", .sound, "audio/mpeg", "mp3"),
    ]

    @Test(arguments: rows) func `a file is what it holds`(row: Row) throws {
        let file = try MediaFile(try MediaFile.bytes(row.format))
        var (media, thumbnails) = try ImportRun.examine(file)
        // Encoders of sound fill up their first and last packets.
        #expect(abs(media.duration - row.expected.duration) < 60_000_000)
        media.duration = row.expected.duration
        #expect(media == row.expected)
        #expect(thumbnails.count == 3)
        let longest = row.expected.kind == .sound ? 2048 : Int(row.expected.width)
        for (thumbnail, edge) in zip(thumbnails, ExaminedMedia.thumbnailEdges) {
            let (width, height, _) = try MediaFile.pixels(of: thumbnail)
            #expect(max(width, height) == min(edge, longest))
        }
    }

    /// A picture, its left half red, its right half blue, with what a camera writes of it.
    private func camera(orientation: UInt8, date: String, zone: String) throws -> [UInt8] {
        let plain = try MediaFile.made(
            "-f lavfi -i color=red:size=200x200 -f lavfi -i color=blue:size=200x200 -filter_complex hstack "
                + "-frames:v 1 -q:v 2 -f mjpeg",
            named: "jpg"
        )
        // A list of two entries, the second of which leads to a list of two texts.
        var exif: [UInt8] = Array("II".utf8) + [0x2a, 0, 8, 0, 0, 0]
        exif += [2, 0, 0x12, 0x01, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0]
        exif += [0x69, 0x87, 4, 0, 1, 0, 0, 0, 38, 0, 0, 0, 0, 0, 0, 0]
        exif += [2, 0, 0x03, 0x90, 2, 0, 20, 0, 0, 0, 68, 0, 0, 0]
        exif += [0x11, 0x90, 2, 0, 7, 0, 0, 0, 88, 0, 0, 0, 0, 0, 0, 0]
        exif += Array(date.utf8) + [0] + Array(zone.utf8) + [0]
        let segment = Array("Exif\0\0".utf8) + exif
        return [0xff, 0xd8, 0xff, 0xe1, 0, UInt8(segment.count + 2)] + segment + plain.dropFirst(2)
    }

    /// Where red is in the upright picture: the numbers of EXIF, and a place in tenths from the left and the top.
    static let turns: [(UInt8, Int, Int)] = [
        (1, 1, 5), (2, 9, 5), (3, 9, 5), (4, 1, 5), (5, 5, 1), (6, 5, 1), (7, 5, 9), (8, 5, 9),
    ]

    @Test(arguments: turns) func `a camera's photo stands upright and has its date`(turn: (UInt8, Int, Int)) throws {
        let file = try MediaFile(
            try camera(orientation: turn.0, date: "2024:05:01 14:30:45", zone: "+02:00")
        )
        let (media, thumbnails) = try ImportRun.examine(file)
        #expect((media.width, media.height) == (turn.0 < 5 ? (400, 200) : (200, 400)))
        #expect(media.created == 1_714_566_645_000)
        let (width, height, bytes) = try MediaFile.pixels(of: thumbnails[0])
        #expect((width, height) == (turn.0 < 5 ? (256, 128) : (128, 256)))
        let at = (turn.2 * height / 10 * width + turn.1 * width / 10) * 3
        #expect(bytes[at] > 200 && bytes[at + 2] < 60, "\(bytes[at..<at + 3])")
        // And blue where the picture ends.
        let other = ((9 - turn.2 + 1) * height / 10 * width + (9 - turn.1 + 1) * width / 10) * 3
        #expect(bytes[other] < 60 && bytes[other + 2] > 200, "\(bytes[other..<other + 3])")
    }

    @Test func `a movie that was filmed upright is as it is shown`() throws {
        let source = try MediaFile(try MediaFile.bytes("mp4"), "mp4")
        let bytes = try MediaFile.made(
            "-i \(source.path) -c copy -metadata:s:v:0 rotate=90 -f mp4",
            named: "mp4"
        )
        let (media, thumbnails) = try ImportRun.examine(try MediaFile(bytes))
        #expect((media.width, media.height) == (240, 320))
        #expect(try MediaFile.pixels(of: thumbnails[2]).height == 320)
    }

    @Test func `what is transparent is white in a thumbnail`() throws {
        let bytes = try MediaFile.made(
            "-f lavfi -i color=red@0.0:size=64x64,format=rgba -frames:v 1 -f image2 -c:v png",
            named: "png"
        )
        let (_, thumbnails) = try ImportRun.examine(try MediaFile(bytes))
        #expect(try MediaFile.pixels(of: thumbnails[0]).bytes.allSatisfy { $0 > 250 })
    }

    @Test(arguments: ["gray", "gray16le", "gray16be"], [10, 245])
    func `a grey photo keeps its tones`(format: String, tone: Int) throws {
        let size = format == "gray" ? "2400x1800" : "64x64"
        let bytes = try MediaFile.made(
            "-f lavfi -i color=black:size=\(size),format=gray,geq=lum=\(tone),format=\(format) -frames:v 1 -c:v tiff "
                + "-f image2",
            named: "tiff"
        )
        let (_, thumbnails) = try ImportRun.examine(try MediaFile(bytes))
        let pixels = try MediaFile.pixels(of: thumbnails[0]).bytes
        #expect(pixels.allSatisfy { abs(Int($0) - tone) < 4 }, "\(pixels[0])")
    }

    @Test func `a large photo has thumbnails of each size`() throws {
        let bytes = try MediaFile.made("-f lavfi -i testsrc2=size=4000x3000 -frames:v 1 -f mjpeg", named: "jpg")
        let (media, thumbnails) = try ImportRun.examine(try MediaFile(bytes))
        #expect((media.width, media.height) == (4000, 3000))
        let sizes = try thumbnails.map { image in
            let (width, height, _) = try MediaFile.pixels(of: image)
            return [width, height]
        }
        #expect(sizes == [[256, 192], [1024, 768], [2048, 1536]])
    }

    @Test func `a cover does not make a movie of a song`() throws {
        let (song, cover) = (
            try MediaFile(try MediaFile.bytes("mp3"), "mp3"), try MediaFile(try MediaFile.bytes("jpeg"), "jpg")
        )
        let bytes = try MediaFile.made(
            "-i \(song.path) -i \(cover.path) -map 0 -map 1 -c copy -disposition:v attached_pic -f mp3",
            named: "mp3"
        )
        #expect(try ImportRun.examine(try MediaFile(bytes)).media.kind == .sound)
    }
}
