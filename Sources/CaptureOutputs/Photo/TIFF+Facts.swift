import CExif
import CaptureCore
import MediaExamination

extension TIFFFile {
    /// Begins the directory of a picture of one number a pixel, in one strip, with all that is known of its making.
    ///
    /// - Parameters:
    ///   - bits: Of each number: 8 or 16.
    ///   - meaning: TIFF's word for what the numbers mean.
    func begin(
        _ facts: FileFacts,
        of format: VideoFormat,
        bits: Int,
        meaning: Int,
        turned turn: PictureOrientation = .upright
    ) throws(CaptureError) {
        func write(_ list: ExifIfd) throws(CaptureError) {
            // EXIF has no size beside that of TIFF itself; DNG has both.
            let writer = TIFFFacts(file: self, list: list, leavesOutSize: meaning == TIFFTag.grey)
            try facts.write(
                to: writer,
                width: format.width,
                height: format.height,
                orientation: turn,
                isRaw: true
            )
        }
        try begin(isEXIF: true)
        try write(EXIF_IFD_EXIF)
        let exif = try endEXIF()
        try begin()
        try write(EXIF_IFD_0)
        try set(TIFFTag.exif, offset: exif)
        try set(XMPPacket.tag, XMPPacket.bytes(facts))
        try setPicture(format, kind: 0, samples: 1, bits: bits, compression: 1, meaning: meaning)
    }

    /// Says of the directory's picture, which has one strip, how it is stored.
    ///
    /// - Parameters:
    ///   - kind: 0 for the picture itself, 1 for a preview of it.
    ///   - samples: Numbers of a pixel.
    ///   - bits: Of each number.
    ///   - compression: 1 for none, 7 for JPEG.
    ///   - meaning: TIFF's word for what the numbers mean.
    func setPicture(
        _ format: VideoFormat,
        kind: Int,
        samples: Int,
        bits: Int,
        compression: Int,
        meaning: Int
    ) throws(CaptureError) {
        try set(TIFFTag.subfileType, number: kind)
        try set(TIFFTag.width, number: format.width)
        try set(TIFFTag.height, number: format.height)
        try set(TIFFTag.rowsPerStrip, number: format.height)
        try set(TIFFTag.bitsPerSample, number: bits)
        try set(TIFFTag.samplesPerPixel, number: samples)
        try set(TIFFTag.planes, number: 1)
        try set(TIFFTag.compression, number: compression)
        try set(TIFFTag.meaning, number: meaning)
    }
}

/// Numbers of TIFF 6.
enum TIFFTag {
    static let subfileType: UInt32 = 254
    static let width: UInt32 = 256
    static let height: UInt32 = 257
    static let bitsPerSample: UInt32 = 258
    static let compression: UInt32 = 259
    static let meaning: UInt32 = 262
    static let description: UInt32 = 270
    static let samplesPerPixel: UInt32 = 277
    static let rowsPerStrip: UInt32 = 278
    static let planes: UInt32 = 284
    static let subdirectories: UInt32 = 330
    static let chromaStep: UInt32 = 530
    static let chromaPlace: UInt32 = 531
    /// What is black and white of luma, and of both kinds of chroma.
    static let range: UInt32 = 532
    static let exif: UInt32 = 34665
    /// The meaning of grey whose 0 is black.
    static let grey = 1
    /// The meaning of luma and two kinds of chroma.
    static let lumaAndChroma = 6
}

/// EXIF in a directory of a TIFF. Entries of other lists are left out.
private struct TIFFFacts: EXIFWriter {
    let file: TIFFFile
    let list: ExifIfd
    let leavesOutSize: Bool

    func text(_ list: ExifIfd, _ tag: ExifTag, _ text: String) throws(CaptureError) {
        if list == self.list { try file.set(tag.rawValue, text) }
    }

    func short(_ list: ExifIfd, _ tag: ExifTag, _ number: Int) throws(CaptureError) {
        guard list == self.list else { return }
        // There may be several of these, for libtiff.
        if tag == EXIF_TAG_ISO_SPEED_RATINGS { return try file.set(tag.rawValue, [UInt16(clamping: number)]) }
        try file.set(tag.rawValue, number: number)
    }

    func long(_ list: ExifIfd, _ tag: ExifTag, _ number: Int) throws(CaptureError) {
        if leavesOutSize, [EXIF_TAG_PIXEL_X_DIMENSION, EXIF_TAG_PIXEL_Y_DIMENSION].contains(tag) { return }
        if list == self.list { try file.set(tag.rawValue, number: number) }
    }

    func rational(
        _ list: ExifIfd,
        _ tag: ExifTag,
        _ numerator: UInt32,
        _ denominator: UInt32
    ) throws(CaptureError) {
        if list == self.list { try file.set(tag.rawValue, fraction: Double(numerator) / Double(denominator)) }
    }

    func signed(_ list: ExifIfd, _ tag: ExifTag, _ numerator: Int32, _ denominator: Int32) throws(CaptureError) {
        if list == self.list { try file.set(tag.rawValue, fraction: Double(numerator) / Double(denominator)) }
    }

    func bytes(_ list: ExifIfd, _ tag: ExifTag, _ bytes: [UInt8]) throws(CaptureError) {
        if list == self.list { try file.set(tag.rawValue, bytes) }
    }
}
