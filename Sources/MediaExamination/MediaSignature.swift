import CaptureCore

/// What a file is by its first bytes. Nothing else decides, and least of all its name: only what is listed here meets a
/// demuxer or a decoder.
package enum MediaSignature: Hashable {
    case jpeg, png, webp, tiff, gif
    /// A picture in the boxes of a movie.
    case heic, avif
    /// ISO media: a movie or sound.
    case mp4
    case quickTime
    /// Matroska, or the part of it that is WebM.
    case matroska(isWebM: Bool)
    case wav, flac, ogg, mp3

    /// Looks at a file.
    ///
    /// - Throws: `badData` for what is not known here, with what is.
    init(_ file: ExaminedFile) throws(CaptureError) {
        let head = try file.bytes(at: 0, count: 4096)
        guard let found = MediaSignature(head) else {
            let shown = head.prefix(8).map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }
            throw CaptureError(
                .badData,
                "the file begins with \(shown.joined(separator: " ")), as nothing that is known here; known are JPEG, PNG, "
                    + "WebP, TIFF, GIF, HEIC, AVIF, MP4, QuickTime, Matroska, WebM, WAV, FLAC, Ogg and MP3"
            )
        }
        self = found
    }

    private init?(_ head: [UInt8]) {
        func has(_ text: String, at place: Int = 0) -> Bool { head.dropFirst(place).starts(with: text.utf8) }
        if head.starts(with: [0xff, 0xd8, 0xff]) {
            self = .jpeg
        } else if head.starts(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) {
            self = .png
        } else if has("RIFF"), has("WEBP", at: 8) {
            self = .webp
        } else if has("RIFF") || has("RF64"), has("WAVE", at: 8) {
            self = .wav
        } else if head.starts(with: [0x49, 0x49, 0x2a, 0x00]) || head.starts(with: [0x4d, 0x4d, 0x00, 0x2a]) {
            self = .tiff
        } else if has("GIF87a") || has("GIF89a") {
            self = .gif
        } else if has("ftyp", at: 4) {
            self = MediaSignature.brand(head)
        } else if ["moov", "mdat", "wide", "free", "skip", "pnot"].contains(where: { has($0, at: 4) }) {
            self = .quickTime
        } else if head.starts(with: [0x1a, 0x45, 0xdf, 0xa3]) {
            // The document's type is among the first elements, as letters.
            self = .matroska(isWebM: MediaSignature.contains(head.prefix(128), "webm"))
        } else if has("fLaC") {
            self = .flac
        } else if has("OggS") {
            self = .ogg
        } else if has("ID3") || MPEGAudioHeader(head[...]) != nil {
            self = .mp3
        } else {
            return nil
        }
    }

    /// The kind of ISO media by the brands of its first box.
    private static func brand(_ head: [UInt8]) -> MediaSignature {
        let size = min(max(Int(head.number(at: 0, UInt32.self)), 16), head.count)
        let words = stride(from: 8, to: size - 3, by: 4).map { String(decoding: head[$0..<$0 + 4], as: UTF8.self) }
        // The second word is a version, not a brand.
        let brands = words.prefix(1) + words.dropFirst(2)
        let main = brands.first ?? ""
        if main == "qt  " { return .quickTime }
        if ["avif", "avis"].contains(main) { return .avif }
        if ["heic", "heix", "heim", "heis", "hevc", "hevx"].contains(main) { return .heic }
        if ["mif1", "msf1"].contains(main) { return brands.contains("avif") ? .avif : .heic }
        return .mp4
    }

    private static func contains(_ bytes: ArraySlice<UInt8>, _ text: String) -> Bool {
        let wanted = Array(text.utf8)
        return bytes.indices.contains { bytes[$0...].starts(with: wanted) }
    }

    /// As a person calls it.
    var name: String {
        switch self {
        case .jpeg: "JPEG"
        case .png: "PNG"
        case .webp: "WebP"
        case .tiff: "TIFF"
        case .gif: "GIF"
        case .heic: "HEIC"
        case .avif: "AVIF"
        case .mp4: "MP4"
        case .quickTime: "QuickTime"
        case .matroska(let isWebM): isWebM ? "WebM" : "Matroska"
        case .wav: "WAV"
        case .flac: "FLAC"
        case .ogg: "Ogg"
        case .mp3: "MP3"
        }
    }

    /// The media type, by what the file turned out to hold.
    func mediaType(_ kind: MediaAssetKind) -> String {
        switch (self, kind) {
        case (.mp4, .sound): "audio/mp4"
        case (.mp4, _): "video/mp4"
        case (.quickTime, .sound): "audio/quicktime"
        case (.quickTime, _): "video/quicktime"
        case (.matroska(let isWebM), .sound): isWebM ? "audio/webm" : "audio/x-matroska"
        case (.matroska(let isWebM), _): isWebM ? "video/webm" : "video/x-matroska"
        case (.ogg, .movie): "video/ogg"
        case (.ogg, _): "audio/ogg"
        case (.wav, _): "audio/wav"
        case (.flac, _): "audio/flac"
        case (.mp3, _): "audio/mpeg"
        case (.jpeg, _), (.png, _), (.webp, _), (.tiff, _), (.gif, _), (.heic, _), (.avif, _):
            "image/" + name.lowercased()
        }
    }

    /// The one demuxer that the file is given to, by libavformat's name.
    var demuxer: String {
        switch self {
        case .mp4, .quickTime, .heic, .avif: "mov"
        case .matroska: "matroska"
        case .jpeg, .png, .webp, .tiff, .gif: "image2"
        case .wav, .flac, .ogg, .mp3: name.lowercased()
        }
    }

    /// Whether it is one picture whose bytes a decoder takes as they are.
    var isPlainPhoto: Bool { [.jpeg, .png, .webp, .tiff, .gif].contains(self) }
}
