import CLibAV
import CaptureCore
import MediaExamination

/// Puts what is known of a photo's making into its file.
enum PhotoFacts {
    /// A JPEG with EXIF and a thumbnail, in the place of what the camera wrote there; which way is up stays. XMP comes beside
    /// it, unless the camera wrote that.
    ///
    /// - Parameters:
    ///   - turn: How the upright picture is to be turned.
    ///   - thumbnail: A JPEG; `nil` for one that is made of the image, which takes time to decode.
    static func jpeg(
        _ image: [UInt8],
        _ facts: FileFacts,
        width: Int,
        height: Int,
        turned turn: PictureOrientation = .upright,
        thumbnail: [UInt8]? = nil
    ) throws(CaptureError) -> [UInt8] {
        var orientation = PictureOrientation.upright
        var head: [UInt8] = [0xff, 0xd8]
        var at = 2
        try unsafe image.withUnsafeBufferPointer { (memory) throws(CaptureError) in
            let bytes = unsafe ByteView(UnsafeRawBufferPointer(memory))
            orientation = (try PhotoStructure(.jpeg, bytes).exif?.orientation ?? .upright).followed(by: turn)
            // If there is a JFIF segment, it comes first.
            if let length = bytes.number(at: 4, UInt16.self), bytes.number(at: 2, UInt16.self) == 0xffe0,
                bytes.count > Int(length) + 4
            {
                head += image[2..<4 + Int(length)]
                at = 4 + Int(length)
            }
        }
        let small: [UInt8]
        if let thumbnail { small = thumbnail } else { small = try Thumbnail.of(jpeg: image) }
        let block = try EXIFBlock.bytes(facts, width: width, height: height, orientation: orientation, thumbnail: small)
        let (kept, hasXMP) = withoutEXIF(image[at...])
        var made: [UInt8] = []
        made.reserveCapacity(image.count + block.count + 2048)
        made += head
        made += segment(EXIFBlock.signature + block)
        if !hasXMP { made += segment(XMPPacket.signature + XMPPacket.bytes(facts)) }
        return made + kept
    }

    /// A segment of JPEG for applications.
    private static func segment(_ content: [UInt8]) -> [UInt8] {
        var segment: [UInt8] = [0xff, 0xe1]
        segment.append(UInt16(clamping: 2 + content.count))
        return segment + content
    }

    /// What follows without the segments of EXIF, and whether there is XMP in it.
    private static func withoutEXIF(_ rest: ArraySlice<UInt8>) -> (kept: [UInt8], hasXMP: Bool) {
        var (made, hasXMP): ([UInt8], Bool) = ([], false)
        made.reserveCapacity(rest.count)
        var at = rest.startIndex
        while at + 4 <= rest.endIndex, rest[at] == 0xff, rest[at + 1] != 0xda {
            // Any number of bytes may fill up before a marker.
            if rest[at + 1] == 0xff {
                at += 1
                continue
            }
            let end = at + 2 + Int(rest[at + 2]) << 8 + Int(rest[at + 3])
            guard end <= rest.endIndex, end >= at + 4 else { break }
            let isEXIF = rest[at + 1] == 0xe1 && rest[(at + 4)..<end].starts(with: EXIFBlock.signature)
            if !isEXIF { made += rest[at..<end] }
            hasXMP = hasXMP || rest[at + 1] == 0xe1 && rest[(at + 4)..<end].starts(with: XMPPacket.signature)
            at = end
        }
        made += rest[at...]
        return (made, hasXMP)
    }

    /// A PNG with EXIF, the time of its making and what its colours mean, behind its first chunk.
    ///
    /// - Parameters:
    ///   - colors: The content of `cICP`; `nil` for none.
    ///   - pixels: The picture's red, green and blue, for the thumbnail.
    static func png(
        _ image: UnsafeRawBufferPointer,
        _ facts: FileFacts,
        colors: [UInt8]?,
        pixels: UnsafeRawBufferPointer,
        width: Int,
        height: Int
    ) throws(CaptureError) -> [UInt8] {
        let thumbnail = try unsafe Thumbnail.of(pixels, width: width, height: height)
        let exif = try EXIFBlock.bytes(facts, width: width, height: height, thumbnail: thumbnail)
        return unsafe png(image, facts, colors.map { chunk("cICP", $0) } ?? [], exif)
    }

    /// A PNG of numbers that are no colours, with EXIF and a line of text that says what they are.
    static func png(
        _ image: UnsafeRawBufferPointer,
        _ facts: FileFacts,
        text: String,
        width: Int,
        height: Int
    ) throws(CaptureError) -> [UInt8] {
        let exif = try EXIFBlock.bytes(facts, width: width, height: height, thumbnail: [])
        return unsafe png(image, facts, chunk("tEXt", Array("Description\0\(text)".utf8)), exif)
    }

    private static func png(
        _ image: UnsafeRawBufferPointer,
        _ facts: FileFacts,
        _ more: [UInt8],
        _ exif: [UInt8]
    ) -> [UInt8] {
        // The signature, and `IHDR` of 13 bytes.
        let first = min(8 + 12 + 13, image.count)
        let parts = facts.date.parts
        var time: [UInt8] = []
        time.append(UInt16(clamping: parts[0]))
        time += parts[1...].map { UInt8(clamping: $0) }
        let xmp = chunk("iTXt", XMPPacket.keyword + XMPPacket.bytes(facts))
        return unsafe image[..<first] + more + chunk("tIME", time) + chunk("eXIf", exif) + xmp + image[first...]
    }

    private static func chunk(_ type: String, _ body: [UInt8]) -> [UInt8] {
        let checked = Array(type.utf8) + body
        var chunk: [UInt8] = []
        chunk.append(UInt32(clamping: body.count))
        chunk += checked
        unsafe chunk.append(checked.withUnsafeBytes { unsafe PhotoStructure.sum(of: $0) })
        return chunk
    }
}
