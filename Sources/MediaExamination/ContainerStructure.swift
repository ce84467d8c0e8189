import CaptureCore

/// What the outermost parts of a container say of its length, read before libavformat, which plays what there is of a file
/// that was cut off. The file is only skipped through: a few bytes of each part.
struct ContainerStructure {
    /// Whether the container was written without knowing its end, so that its packets alone tell how long it is.
    private(set) var isOpenEnded = false

    private let file: ExaminedFile
    private let name: String
    private let isWhole: Bool

    /// Walks through the parts.
    ///
    /// - Throws: `badData` for a file that is shorter than its parts say, when it must be whole.
    init(_ file: ExaminedFile, _ signature: MediaSignature, isWhole: Bool) throws(CaptureError) {
        self.file = file
        self.isWhole = isWhole
        name = signature.name
        switch signature {
        case .mp4, .quickTime, .heic, .avif: try readBoxes(isPhoto: signature == .heic || signature == .avif)
        case .matroska: try readMatroska()
        case .wav: try readWAV()
        case .ogg: try readOgg()
        case .mp3: try readMP3()
        default: break
        }
    }

    /// Notes that the file ends too early.
    private mutating func cutOff(_ how: String) throws(CaptureError) {
        isOpenEnded = true
        if isWhole { throw CaptureError(.badData, "the \(name) file is cut off: \(how)") }
    }

    private mutating func readBoxes(isPhoto: Bool) throws(CaptureError) {
        var (at, types): (Int64, Set<String>) = (0, [])
        while at < file.size {
            let head = try file.bytes(at: at, count: 16)
            guard head.count >= 8 else { return try cutOff("it ends within the header of a box at \(at)") }
            let type = String(decoding: head[4..<8], as: UTF8.self)
            var size = Int64(head.number(at: 0, UInt32.self))
            // 0 means up to the end, 1 that the length is in the next eight bytes.
            if size == 0 { size = file.size - at }
            if size == 1 { size = Int64(clamping: head.number(at: 8, UInt64.self)) }
            guard size >= 8 else {
                throw CaptureError(.badData, "the \(name) file is damaged: a box at \(at) says it has \(size) bytes")
            }
            if size > file.size - at {
                let missing = types.contains("moov") || isPhoto ? "" : ", and has no index (moov)"
                try cutOff("its box \(Self.plain(type)) at \(at) has \(size) bytes, the file \(file.size)\(missing)")
                if type == "moov" { types.remove("moov") }
                break
            }
            types.insert(type)
            at += size
        }
        if types.contains("moof") { isOpenEnded = true }
        guard types.contains("moov") || isPhoto else {
            throw CaptureError(.badData, "the \(name) file has no index (moov): its writing was not finished")
        }
    }

    private mutating func readMatroska() throws(CaptureError) {
        var at: Int64 = 0
        while at < file.size {
            let head = try file.bytes(at: at, count: 12)
            guard let id = EBMLNumber(head[...], keepsMark: true),
                let size = EBMLNumber(head.dropFirst(id.width), keepsMark: false)
            else { return try cutOff("no element begins at byte \(at)") }
            let isSegment = id.value == 0x1853_8067
            if size.isUnknown {
                isOpenEnded = true
                guard isSegment else { throw CaptureError(.badData, "the \(name) file is damaged at byte \(at)") }
                return
            }
            let start = at + Int64(id.width + size.width)
            guard size.value <= UInt64(file.size - start) else {
                return try cutOff("it says it goes to byte \(UInt64(start) &+ size.value), and it has \(file.size)")
            }
            if isSegment { return }
            at = start + Int64(size.value)
        }
        try cutOff("it ends before its segment")
    }

    private mutating func readWAV() throws(CaptureError) {
        var (at, long): (Int64, Int64?) = (12, nil)
        while at + 8 <= file.size {
            let head = try file.bytes(at: at, count: 24)
            let type = String(decoding: head[0..<4], as: UTF8.self)
            var size = Int64(head.number(at: 4, UInt32.self).byteSwapped)
            if type == "ds64" { long = Int64(clamping: head.number(at: 16, UInt64.self).byteSwapped) }
            if type == "data" {
                let isUnknown = size == 0xffff_ffff || size == 0
                if isUnknown, let said = long { size = said } else if isUnknown { isOpenEnded = true }
                if isOpenEnded { return }
                guard size > file.size - at - 8 else { return }
                return try cutOff("its header says \(size) bytes of sound, and \(file.size - at - 8) are there")
            }
            at += 8 + size + size % 2
        }
        throw CaptureError(.badData, "the WAV file is cut off: it holds no sound")
    }

    private mutating func readOgg() throws(CaptureError) {
        var at: Int64 = 0
        var open: Set<UInt32> = []
        while at < file.size {
            let head = try file.bytes(at: at, count: 27 + 255)
            guard head.starts(with: "OggS".utf8), head.count >= 27, head.count >= 27 + Int(head[26]) else {
                // A tag of another kind may stand behind the last page.
                if open.isEmpty, at > 0 { return }
                return try cutOff("no page begins at byte \(at)")
            }
            let segments = Int(head[26])
            let size = Int64(27 + segments) + head[27..<27 + segments].reduce(0) { $0 + Int64($1) }
            guard size <= file.size - at else { return try cutOff("its last page, at byte \(at), is not whole") }
            let serial = head.number(at: 14, UInt32.self)
            if head[5] & 2 != 0 { open.insert(serial) }
            if head[5] & 4 != 0 { open.remove(serial) }
            at += size
        }
        if !open.isEmpty { try cutOff("its last page is not the end of its stream") }
    }

    private mutating func readMP3() throws(CaptureError) {
        isOpenEnded = true
        // Before the first frame: a tag whose length is in its header, seven bits a byte.
        let tag = try file.bytes(at: 0, count: 10)
        var at: Int64 = 0
        if tag.starts(with: "ID3".utf8), tag.count == 10 {
            at = 10 + tag[6..<10].reduce(0) { $0 << 7 | Int64($1 & 0x7f) } + (tag[5] & 0x10 != 0 ? 10 : 0)
        }
        let frame = try file.bytes(at: at, count: 256)
        guard at < file.size, let header = MPEGAudioHeader(frame[...]) else { return }
        // The first frame may say how many bytes follow, as encoders have it since Xing's.
        let place = 4 + header.sideBytes
        let mark = frame.dropFirst(place).prefix(4)
        guard mark.elementsEqual("Xing".utf8) || mark.elementsEqual("Info".utf8) else { return }
        let flags = frame.number(at: place + 4, UInt32.self)
        guard flags & 2 != 0 else { return }
        let size = Int64(frame.number(at: place + 8 + (flags & 1 != 0 ? 4 : 0), UInt32.self))
        guard size > file.size - at else { return }
        try cutOff("its header says \(size) bytes of sound, and \(file.size - at) are there")
    }

    /// Letters that may be shown.
    private static func plain(_ text: String) -> String {
        String(text.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "?" })
    }
}

/// The header of a frame of MPEG audio, of which the third layer is known here.
struct MPEGAudioHeader {
    /// Bytes between the header and the encoded sound, where the first frame may say how long the file is.
    let sideBytes: Int

    /// Reads a header; `nil` for other bytes, or another layer.
    init?(_ bytes: ArraySlice<UInt8>) {
        let header = bytes.number(at: 0, UInt32.self)
        let (version, layer) = (header >> 19 & 3, header >> 17 & 3)
        let (rate, frequency) = (header >> 12 & 15, header >> 10 & 3)
        guard header >> 21 == 0x7ff, version != 1, layer == 1, rate != 0, rate != 15, frequency != 3 else { return nil }
        let isMono = header >> 6 & 3 == 3
        sideBytes = version == 3 ? (isMono ? 17 : 32) : (isMono ? 9 : 17)
    }
}
