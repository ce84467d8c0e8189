import CExif
import CaptureCore
import Glibc
import MediaConversion
import MediaExamination

/// EXIF of a photo, made by libexif. Thread-bound.
@safe
struct EXIFBlock: EXIFWriter {
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
        try facts.write(to: block, width: width, height: height, orientation: orientation)
        if (1...largestThumbnail).contains(thumbnail.count) { try block.add(thumbnail) }
        var memory: UnsafeMutablePointer<UInt8>?
        var count: UInt32 = 0
        unsafe exif_data_save_data(block.data, &memory, &count)
        defer { unsafe free(memory) }
        let saved = try unsafe LibAV.made(memory)
        return unsafe Array(UnsafeBufferPointer(start: saved, count: Int(count)).dropFirst(signature.count))
    }

    /// A JPEG in the list for thumbnails, which libexif completes by where it is.
    private func add(_ thumbnail: [UInt8]) throws(CaptureError) {
        try short(EXIF_IFD_1, EXIF_TAG_COMPRESSION, 6)
        try writeResolution(EXIF_IFD_1)
        // The block gives it back.
        let memory = try unsafe LibAV.made(malloc(thumbnail.count))
        unsafe memory.copyMemory(from: thumbnail, byteCount: thumbnail.count)
        unsafe data.pointee.data = unsafe memory.assumingMemoryBound(to: UInt8.self)
        unsafe data.pointee.size = UInt32(thumbnail.count)
    }

    func rational(
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

    func signed(_ list: ExifIfd, _ tag: ExifTag, _ numerator: Int32, _ denominator: Int32) throws(CaptureError) {
        var bytes = [UInt8](repeating: 0, count: 8)
        let number = ExifSRational(numerator: numerator, denominator: denominator)
        unsafe exif_set_srational(&bytes, EXIFBlock.order, number)
        try add(list, tag, EXIF_FORMAT_SRATIONAL, bytes, count: 1)
    }

    func text(_ list: ExifIfd, _ tag: ExifTag, _ text: String) throws(CaptureError) {
        guard !text.isEmpty else { return }
        try add(list, tag, EXIF_FORMAT_ASCII, Array(text.utf8) + [0])
    }

    func short(_ list: ExifIfd, _ tag: ExifTag, _ number: Int) throws(CaptureError) {
        var bytes = [UInt8](repeating: 0, count: 2)
        unsafe exif_set_short(&bytes, EXIFBlock.order, UInt16(clamping: number))
        try add(list, tag, EXIF_FORMAT_SHORT, bytes, count: 1)
    }

    func long(_ list: ExifIfd, _ tag: ExifTag, _ number: Int) throws(CaptureError) {
        var bytes = [UInt8](repeating: 0, count: 4)
        unsafe exif_set_long(&bytes, EXIFBlock.order, UInt32(clamping: number))
        try add(list, tag, EXIF_FORMAT_LONG, bytes, count: 1)
    }

    func bytes(_ list: ExifIfd, _ tag: ExifTag, _ bytes: [UInt8]) throws(CaptureError) {
        try add(list, tag, EXIF_FORMAT_UNDEFINED, bytes)
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
