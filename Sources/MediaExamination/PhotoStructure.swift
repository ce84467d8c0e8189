import CLibAV
package import CaptureCore

/// What the parts of a photo's file say before a decoder sees it: whether it is whole, how large it is, and where the
/// camera's own facts lie.
package struct PhotoStructure {
    /// The stored width and height, where the parts say it.
    private(set) var size: (width: Int, height: Int)?
    /// What the camera wrote.
    package private(set) var exif: EXIFReader?

    /// Walks through the parts of a picture of a plain format.
    ///
    /// - Throws: `badData` for a file that is cut off or damaged, saying where.
    package init(_ signature: MediaSignature, _ bytes: ByteView) throws(CaptureError) {
        switch signature {
        case .jpeg: readJPEG(bytes)
        case .png: try readPNG(bytes)
        case .webp: try readWebP(bytes)
        case .gif: try readGIF(bytes)
        case .tiff: exif = EXIFReader(bytes)
        default: break
        }
    }

    /// Only the camera's facts: whether the coded picture is whole, the decoder tells.
    private mutating func readJPEG(_ bytes: ByteView) {
        var at = 2
        while let marker = bytes.number(at: at, UInt16.self), marker > 0xff00, marker != 0xffda {
            // Bytes of 255 may fill up before a marker.
            if marker == 0xffff {
                at += 1
                continue
            }
            guard let length = bytes.number(at: at + 2, UInt16.self), length >= 2 else { return }
            if marker == 0xffe1, exif == nil, bytes.has("Exif\0", at: at + 4), length > 8 {
                exif = bytes.part(from: at + 10, count: Int(length) - 8).flatMap(EXIFReader.init)
            }
            at += 2 + Int(length)
        }
    }

    private mutating func readPNG(_ bytes: ByteView) throws(CaptureError) {
        var at = 8
        while true {
            guard let length = bytes.number(at: at, UInt32.self),
                let checked = bytes.part(from: at + 4, count: Int(length) + 4),
                let sum = bytes.number(at: at + 8 + Int(length), UInt32.self)
            else {
                throw CaptureError(.badData, "the PNG is cut off: it ends after \(bytes.count) bytes, within a chunk")
            }
            let type = checked.text(at: 0, count: 4) ?? ""
            let found = unsafe checked.withBytes { unsafe PhotoStructure.sum(of: $0) }
            guard sum == found else {
                throw CaptureError(.badData, "the PNG is damaged: the sum of its chunk \(type) at \(at) is wrong")
            }
            switch type {
            case "IHDR":
                if let width = checked.number(at: 4, UInt32.self), let height = checked.number(at: 8, UInt32.self) {
                    size = (Int(width), Int(height))
                }
            case "eXIf": exif = checked.part(from: 4, count: Int(length)).flatMap(EXIFReader.init)
            case "IEND": return
            default: break
            }
            at += Int(length) + 12
        }
    }

    /// The sum that PNG has: CRC-32, all bits turned over before and after.
    package static func sum(of bytes: UnsafeRawBufferPointer) -> UInt32 {
        let table = unsafe av_crc_get_table(AV_CRC_32_IEEE_LE)
        let memory = unsafe bytes.bindMemory(to: UInt8.self)
        return unsafe ~av_crc(table, ~0, memory.baseAddress, memory.count)
    }

    private mutating func readWebP(_ bytes: ByteView) throws(CaptureError) {
        let said = Int(bytes.number(at: 4, UInt32.self, isLittle: true) ?? 0) + 8
        guard said <= bytes.count else {
            throw CaptureError(.badData, "the WebP is cut off: it says \(said) bytes, and has \(bytes.count)")
        }
        var at = 12
        while at + 8 <= said, let length = bytes.number(at: at + 4, UInt32.self, isLittle: true) {
            guard let body = bytes.part(from: at + 8, count: Int(length)), at + 8 + Int(length) <= said else {
                throw CaptureError(.badData, "the WebP is damaged: its chunk at \(at) does not fit into it")
            }
            if bytes.has("ANIM", at: at) {
                throw CaptureError(.badData, "the WebP is a moving one, which is not known here; a GIF or a movie is")
            }
            if bytes.has("EXIF", at: at) {
                // Some programs write the letters that JPEG has before it.
                let skipped = body.has("Exif\0", at: 0) ? 6 : 0
                exif = body.part(from: skipped, count: body.count - skipped).flatMap(EXIFReader.init)
            }
            at += 8 + Int(length) + Int(length & 1)
        }
    }

    private mutating func readGIF(_ bytes: ByteView) throws(CaptureError) {
        let cut = CaptureError(
            .badData,
            "the GIF is cut off: it ends after \(bytes.count) bytes, before its end marker"
        )
        func little(_ place: Int) -> Int { Int(bytes.number(at: place, UInt16.self, isLittle: true) ?? 0) }
        func table(_ flags: UInt8) -> Int { flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 7) + 1) }
        size = (little(6), little(8))
        var at = 13 + table(bytes.byte(at: 10) ?? 0)
        while true {
            switch bytes.byte(at: at) {
            case 0x3b: return
            case 0x21: at += 2
            case 0x2c:
                guard let flags = bytes.byte(at: at + 9) else { throw cut }
                at += 11 + table(flags)
            case nil: throw cut
            case let byte?:
                throw CaptureError(.badData, "the GIF is damaged: a block of the unknown kind \(byte) stands at \(at)")
            }
            // Blocks of a length and so many bytes, to one of none.
            while true {
                guard let length = bytes.byte(at: at) else { throw cut }
                at += 1 + Int(length)
                if length == 0 { break }
            }
        }
    }
}
