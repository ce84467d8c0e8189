import CaptureCore
import CaptureSystem
import Glibc
import Testing

/// Files that are not what they should be: refused with a sentence, and never a crash.
@Suite struct CutMediaTests {
    private static let all = ExaminationTests.rows.map(\.format)

    private func fault(_ bytes: [UInt8]) throws -> CaptureError {
        try ImportRun.fault(.examine(isWhole: true), try MediaFile(bytes).reading)
    }

    @Test(arguments: all) func `a file that was cut off is refused`(format: String) throws {
        let bytes = try MediaFile.bytes(format)
        // The last bytes of a TIFF fill it up.
        let ends = format == "tiff" ? [400, 9] : [300, 9, 1]
        for length in [1, 20, bytes.count / 20, bytes.count / 2, bytes.count * 9 / 10] + ends.map({ bytes.count - $0 })
        {
            let error = try fault(Array(bytes.prefix(length)))
            #expect(error.code == .badData, "\(length) of \(bytes.count): \(error)")
            #expect(error.message.count > 15)
        }
    }

    @Test func `a photo with fill between its markers is taken, and refused if it was cut off`() throws {
        let bytes = try MediaFile.bytes("jpeg")
        // Behind the first segment, and before the end: either is the first thing that the decoder warns of.
        let first = 4 + Int(bytes[4]) << 8 + Int(bytes[5])
        let early = Array(bytes[..<first]) + [1, 2, 3] + Array(bytes[first...])
        let late = Array(bytes.dropLast(2)) + [1, 2, 3, 0xff, 0xd9]
        for filled in [early, late] {
            let (media, _) = try ImportRun.examine(try MediaFile(filled), isWhole: true)
            #expect(media.width > 0)
            #expect(try fault(Array(filled.prefix(filled.count / 2))).code == .badData)
        }
    }

    @Test(arguments: ["mkv", "fragments", "wav", "opus", "flac", "mp3"])
    func `of an interrupted recording counts what is there`(format: String) throws {
        let bytes = try MediaFile.bytes(format)
        let file = try MediaFile(Array(bytes.prefix(bytes.count * 2 / 3)))
        let (media, thumbnails) = try ImportRun.examine(file, isWhole: false)
        #expect(media.duration > 500_000_000 && media.duration < 2_700_000_000, "\(media.duration)")
        #expect(thumbnails.count == 3)
    }

    @Test func `an index without a movie, and a movie without an index, are told`() throws {
        let bytes = try MediaFile.bytes("mp4")
        #expect(try fault(Array(bytes.prefix(bytes.count - 100))).message.contains("its box moov"))
        let header: [UInt8] = [0, 0, 0, 24] + Array("ftypisom".utf8) + [0, 0, 0, 0] + Array("isomavc1".utf8)
        let data: [UInt8] = [0, 0, 0, 108] + Array("mdat".utf8) + [UInt8](repeating: 7, count: 100)
        #expect(try fault(header + data).message.contains("no index (moov)"))
        #expect(try fault(header + [0, 0, 0, 8] + Array("moov".utf8)).message.contains("neither pictures nor sound"))
    }

    @Test func `sides beyond every screen are refused before they are decoded`() throws {
        let bytes = try MediaFile.bytes("png")
        // The sum behind the header would be wrong: the sides are looked at in its place.
        for sides: [UInt8] in [
            [0, 1, 0, 0, 0, 0, 0, 16], [0, 0, 255, 255, 0, 0, 255, 255], [0, 0, 0, 0, 0, 0, 0, 1],
        ] {
            let header = Array("IHDR".utf8) + sides + Array(bytes[24..<29])
            let changed = Array(bytes[..<12]) + header + Self.crc(header) + Array(bytes[33...])
            let error = try fault(changed)
            #expect(error.code == .badData && error.message.contains("65535 pixels"), "\(error)")
        }
    }

    @Test func `a picture with fewer rows than it says is refused`() throws {
        let bytes = try MediaFile.bytes("png")
        let header = Array("IHDR".utf8) + Array(bytes[16..<20]) + [0, 0, 2, 0] + Array(bytes[24..<29])
        let taller = Array(bytes[..<12]) + header + Self.crc(header) + Array(bytes[33...])
        #expect(try fault(taller).message.contains("cut off"))
    }

    @Test func `a sum that is wrong is told with its place`() throws {
        var bytes = try MediaFile.bytes("png")
        bytes[bytes.count / 2] ^= 0x10
        #expect(try fault(bytes).message.contains("is damaged: the sum of its chunk IDAT"))
    }

    @Test func `what is no media is told with what would be`() throws {
        for bytes in [Array("#!/bin/sh\nexit 0\n".utf8), [0], Array("PK\u{3}\u{4}and so on".utf8)] {
            let error = try fault(bytes)
            #expect(error.code == .badData && error.message.contains("known are JPEG, PNG"))
        }
        #expect(try fault([]).message == "the file is empty")
    }

    @Test func `a photo of a kind that the installed libraries do not know is told as that`() throws {
        let header: [UInt8] = [0, 0, 0, 24] + Array("ftypheic".utf8) + [0, 0, 0, 0] + Array("mif1heic".utf8)
        let error = try fault(header + [0, 0, 0, 8] + Array("mdat".utf8))
        #expect(error.code == .badData && error.message.contains("HEIC") && error.message.contains("JPEG"))
    }

    @Test func `a WebP that moves is told with what may`() throws {
        let parts =
            Array("WEBPVP8X".utf8) + [10, 0, 0, 0] + [UInt8](repeating: 0, count: 10) + Array("ANIM".utf8)
            + [6, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        #expect(try fault(Array("RIFF".utf8) + [UInt8(parts.count), 0, 0, 0] + parts).message.contains("a moving one"))
    }

    @Test func `a movie of another machine's paths opens none of them`() throws {
        // A playlist is the simplest file that names others; no demuxer of such is asked.
        let list = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n/etc/passwd\n"
        #expect(try fault(Array(list.utf8)).code == .badData)
        #expect(try fault(Array("ffconcat version 1.0\nfile /etc/passwd\n".utf8)).code == .badData)
    }

    @Test func `a descriptor that could write is not examined`() throws {
        let file = try MediaFile(try MediaFile.bytes("png"))
        let error = try ImportRun.fault(.examine(isWhole: true), Descriptor.open(file.path, O_RDWR))
        #expect(error.message.contains("reading alone"))
    }

    @Test(arguments: all) func `a file with wrong bytes breaks nothing`(format: String) throws {
        let bytes = try MediaFile.bytes(format)
        var state: UInt64 = 0x9e37_79b9_7f4a_7c15
        func random(_ count: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % count
        }
        for round in 0..<6 {
            var changed = bytes
            for _ in 0...round * 4 {
                // Mostly where the form is, which is at either end.
                let place = [
                    random(min(2000, bytes.count)), random(bytes.count),
                    bytes.count - 1 - random(min(2000, bytes.count)),
                ]
                changed[place[random(3)]] = [0, 255, 127, 128, UInt8(random(256))][random(5)]
            }
            let run = try ImportRun(.examine(isWhole: true), try MediaFile(changed).reading)
            _ = try run.bytes()
            switch try run.report() {
            case .examined: #expect(try run.process.wait() == 0)
            case .failed(let error):
                #expect(error.code == .badData)
                #expect(try run.process.wait() == 65)
            case .copied: Issue.record("it copied")
            }
        }
    }

    /// The sum of a chunk of PNG.
    private static func crc(_ bytes: [UInt8]) -> [UInt8] {
        var sum: UInt32 = ~0
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xedb8_8320 : sum >> 1 }
        }
        return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: ~sum >> $0) }
    }
}
