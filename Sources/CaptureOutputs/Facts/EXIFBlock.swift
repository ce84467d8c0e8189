import CExif
import CaptureCore
import Glibc
import MediaConversion
import MediaExamination

/// EXIF of a photo, made by libexif. Thread-bound.
@safe
struct EXIFBlock {
    /// The letters that stand before it in a JPEG.
    static let signature = Array("Exif\0\0".utf8)
    private static let order = EXIF_BYTE_ORDER_INTEL

    private let data: UnsafeMutablePointer<ExifData>

    /// The most bytes of a thumbnail: with all else it has to fit into a segment of 64 KiB.
    private static let largestThumbnail = 60_000

    /// What a photo of that size and orientation says; in the form of TIFF, as PNG has it.
    ///
    /// - Parameter thumbnail: A small JPEG of it. One that is too large is left out.
    static func bytes(
        _ facts: FileFacts,
        width: Int,
        height: Int,
        orientation: PictureOrientation = .upright,
        thumbnail: [UInt8]
    ) throws(CaptureError) -> [UInt8] {
        let block = try unsafe EXIFBlock(data: LibAV.made(exif_data_new()))
        defer { unsafe exif_data_unref(block.data) }
        unsafe exif_data_set_byte_order(block.data, order)
        try block.fill(facts, width, height, orientation)
        if (1...largestThumbnail).contains(thumbnail.count) { try block.add(thumbnail) }
        var memory: UnsafeMutablePointer<UInt8>?
        var count: UInt32 = 0
        unsafe exif_data_save_data(block.data, &memory, &count)
        defer { unsafe free(memory) }
        let saved = try unsafe LibAV.made(memory)
        return unsafe Array(UnsafeBufferPointer(start: saved, count: Int(count)).dropFirst(signature.count))
    }

    private func fill(
        _ facts: FileFacts,
        _ width: Int,
        _ height: Int,
        _ orientation: PictureOrientation
    ) throws(CaptureError) {
        let date = facts.date
        try text(EXIF_IFD_0, EXIF_TAG_MAKE, facts.origin.cameraMaker)
        try text(EXIF_IFD_0, EXIF_TAG_MODEL, facts.origin.camera)
        try short(EXIF_IFD_0, EXIF_TAG_ORIENTATION, orientation.rawValue)
        try text(EXIF_IFD_0, EXIF_TAG_SOFTWARE, FileFacts.software)
        try text(EXIF_IFD_0, EXIF_TAG_DATE_TIME, date.exif)
        try resolution(of: EXIF_IFD_0)
        try short(EXIF_IFD_0, EXIF_TAG_YCBCR_POSITIONING, 1)
        try add(EXIF_IFD_EXIF, EXIF_TAG_EXIF_VERSION, EXIF_FORMAT_UNDEFINED, Array("0232".utf8), count: 4)
        for tag in [EXIF_TAG_DATE_TIME_ORIGINAL, EXIF_TAG_DATE_TIME_DIGITIZED] {
            try text(EXIF_IFD_EXIF, tag, date.exif)
        }
        for tag in [EXIF_TAG_OFFSET_TIME, EXIF_TAG_OFFSET_TIME_ORIGINAL, EXIF_TAG_OFFSET_TIME_DIGITIZED] {
            try text(EXIF_IFD_EXIF, tag, date.zone)
        }
        for tag in [EXIF_TAG_SUB_SEC_TIME, EXIF_TAG_SUB_SEC_TIME_ORIGINAL, EXIF_TAG_SUB_SEC_TIME_DIGITIZED] {
            try text(EXIF_IFD_EXIF, tag, date.thousandths)
        }
        // Y, Cb and Cr; sRGB, which is what viewers take it for.
        try add(EXIF_IFD_EXIF, EXIF_TAG_COMPONENTS_CONFIGURATION, EXIF_FORMAT_UNDEFINED, [1, 2, 3, 0])
        try add(EXIF_IFD_EXIF, EXIF_TAG_FLASH_PIX_VERSION, EXIF_FORMAT_UNDEFINED, Array("0100".utf8))
        try short(EXIF_IFD_EXIF, EXIF_TAG_COLOR_SPACE, 1)
        try text(EXIF_IFD_EXIF, EXIF_TAG_IMAGE_UNIQUE_ID, EXIFBlock.uniqueID())
        try long(EXIF_IFD_EXIF, EXIF_TAG_PIXEL_X_DIMENSION, width)
        try long(EXIF_IFD_EXIF, EXIF_TAG_PIXEL_Y_DIMENSION, height)
        if facts.origin.exposure > 0 { try exposure(facts.origin.exposure) }
        if facts.origin.sensitivity > 0 {
            try short(EXIF_IFD_EXIF, EXIF_TAG_ISO_SPEED_RATINGS, Int(clamping: facts.origin.sensitivity))
        }
        if let mode = facts.origin.exposureMode {
            try short(EXIF_IFD_EXIF, EXIF_TAG_EXPOSURE_MODE, mode == .automatic ? 0 : 1)
        }
        if let balance = facts.origin.whiteBalance {
            try short(EXIF_IFD_EXIF, EXIF_TAG_WHITE_BALANCE, balance == .automatic ? 0 : 1)
        }
        // Cameras count their gain as they like, so it is no speed of ISO 12232; how much it is, in words.
        if let gain = facts.origin.gain {
            try add(
                EXIF_IFD_EXIF,
                EXIF_TAG_USER_COMMENT,
                EXIF_FORMAT_UNDEFINED,
                Array("ASCII\0\0\0Gain \(gain)".utf8)
            )
        }
    }

    /// 128 random bits in hexadecimal.
    private static func uniqueID() -> String {
        (0..<2).map { _ in
            let digits = String(UInt64.random(in: 0...UInt64.max), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }

    /// A JPEG in the list for thumbnails, which libexif completes by where it is.
    private func add(_ thumbnail: [UInt8]) throws(CaptureError) {
        try short(EXIF_IFD_1, EXIF_TAG_COMPRESSION, 6)
        try resolution(of: EXIF_IFD_1)
        // The block gives it back.
        let memory = try unsafe LibAV.made(malloc(thumbnail.count))
        unsafe memory.copyMemory(from: thumbnail, byteCount: thumbnail.count)
        unsafe data.pointee.data = unsafe memory.assumingMemoryBound(to: UInt8.self)
        unsafe data.pointee.size = UInt32(thumbnail.count)
    }

    /// 72 dots an inch, which is EXIF's value for an unknown resolution.
    private func resolution(of list: ExifIfd) throws(CaptureError) {
        for tag in [EXIF_TAG_X_RESOLUTION, EXIF_TAG_Y_RESOLUTION] { try rational(list, tag, 72, 1) }
        try short(list, EXIF_TAG_RESOLUTION_UNIT, 2)
    }

    /// A time as a fraction of a second, in microseconds.
    private func exposure(_ nanoseconds: Int64) throws(CaptureError) {
        try rational(EXIF_IFD_EXIF, EXIF_TAG_EXPOSURE_TIME, UInt32(clamping: nanoseconds / 1000), 1_000_000)
    }

    private func rational(
        _ list: ExifIfd,
        _ tag: ExifTag,
        _ numerator: UInt32,
        _ denominator: UInt32
    ) throws(CaptureError) {
        var bytes = [UInt8](repeating: 0, count: 8)
        let number = ExifRational(numerator: numerator, denominator: denominator)
        unsafe exif_set_rational(&bytes, EXIFBlock.order, number)
        try add(list, tag, EXIF_FORMAT_RATIONAL, bytes, count: 1)
    }

    private func text(_ list: ExifIfd, _ tag: ExifTag, _ text: String) throws(CaptureError) {
        guard !text.isEmpty else { return }
        try add(list, tag, EXIF_FORMAT_ASCII, Array(text.utf8) + [0])
    }

    private func short(_ list: ExifIfd, _ tag: ExifTag, _ number: Int) throws(CaptureError) {
        var bytes = [UInt8](repeating: 0, count: 2)
        unsafe exif_set_short(&bytes, EXIFBlock.order, UInt16(clamping: number))
        try add(list, tag, EXIF_FORMAT_SHORT, bytes, count: 1)
    }

    private func long(_ list: ExifIfd, _ tag: ExifTag, _ number: Int) throws(CaptureError) {
        var bytes = [UInt8](repeating: 0, count: 4)
        unsafe exif_set_long(&bytes, EXIFBlock.order, UInt32(clamping: number))
        try add(list, tag, EXIF_FORMAT_LONG, bytes, count: 1)
    }

    /// Adds an entry to a list; `count` is that of its values, bytes unless told otherwise.
    private func add(
        _ list: ExifIfd,
        _ tag: ExifTag,
        _ format: ExifFormat,
        _ bytes: [UInt8],
        count: Int? = nil
    ) throws(CaptureError) {
        let entry = try unsafe LibAV.made(exif_entry_new())
        defer { unsafe exif_entry_unref(entry) }
        // The entry gives it back.
        let memory = try unsafe LibAV.made(malloc(bytes.count))
        unsafe memory.copyMemory(from: bytes, byteCount: bytes.count)
        unsafe entry.pointee.tag = tag
        unsafe entry.pointee.format = format
        unsafe entry.pointee.components = UInt(count ?? bytes.count)
        unsafe entry.pointee.data = unsafe memory.assumingMemoryBound(to: UInt8.self)
        unsafe entry.pointee.size = UInt32(bytes.count)
        let lists = unsafe data.pointee.ifd
        let content = unsafe list == EXIF_IFD_0 ? lists.0 : list == EXIF_IFD_1 ? lists.1 : lists.2
        unsafe exif_content_add_entry(content, entry)
    }
}
