import CExif
import CaptureCore
import MediaConversion
import MediaExamination

/// Takes what EXIF says of a photo, entry by entry.
protocol EXIFWriter {
    func text(_ list: ExifIfd, _ tag: ExifTag, _ text: String) throws(CaptureError)
    func short(_ list: ExifIfd, _ tag: ExifTag, _ number: Int) throws(CaptureError)
    func long(_ list: ExifIfd, _ tag: ExifTag, _ number: Int) throws(CaptureError)
    func rational(_ list: ExifIfd, _ tag: ExifTag, _ numerator: UInt32, _ denominator: UInt32) throws(CaptureError)
    /// A fraction that may be negative.
    func signed(_ list: ExifIfd, _ tag: ExifTag, _ numerator: Int32, _ denominator: Int32) throws(CaptureError)
    /// Of no type, as EXIF calls it.
    func bytes(_ list: ExifIfd, _ tag: ExifTag, _ bytes: [UInt8]) throws(CaptureError)
}

extension EXIFWriter {
    /// 72 dots an inch, which is EXIF's value for an unknown resolution.
    func writeResolution(_ list: ExifIfd) throws(CaptureError) {
        for tag in [EXIF_TAG_X_RESOLUTION, EXIF_TAG_Y_RESOLUTION] { try rational(list, tag, 72, 1) }
        try short(list, EXIF_TAG_RESOLUTION_UNIT, 2)
    }
}

extension FileFacts {
    /// Writes what is known of a photo.
    ///
    /// - Parameter isRaw: Whether it is a sensor's own numbers, of no colour space.
    func write(
        to exif: some EXIFWriter,
        width: Int,
        height: Int,
        orientation: PictureOrientation,
        isRaw: Bool = false
    ) throws(CaptureError) {
        try exif.text(EXIF_IFD_0, EXIF_TAG_MAKE, origin.cameraMaker)
        try exif.text(EXIF_IFD_0, EXIF_TAG_MODEL, origin.camera)
        try exif.short(EXIF_IFD_0, EXIF_TAG_ORIENTATION, orientation.rawValue)
        try exif.text(EXIF_IFD_0, EXIF_TAG_SOFTWARE, FileFacts.software)
        try exif.text(EXIF_IFD_0, EXIF_TAG_DATE_TIME, date.exif)
        try exif.writeResolution(EXIF_IFD_0)
        if !isRaw { try exif.short(EXIF_IFD_0, EXIF_TAG_YCBCR_POSITIONING, 1) }
        try exif.bytes(EXIF_IFD_EXIF, EXIF_TAG_EXIF_VERSION, Array("0232".utf8))
        for tag in [EXIF_TAG_DATE_TIME_ORIGINAL, EXIF_TAG_DATE_TIME_DIGITIZED] {
            try exif.text(EXIF_IFD_EXIF, tag, date.exif)
        }
        for tag in [EXIF_TAG_OFFSET_TIME, EXIF_TAG_OFFSET_TIME_ORIGINAL, EXIF_TAG_OFFSET_TIME_DIGITIZED] {
            try exif.text(EXIF_IFD_EXIF, tag, date.zone)
        }
        for tag in [EXIF_TAG_SUB_SEC_TIME, EXIF_TAG_SUB_SEC_TIME_ORIGINAL, EXIF_TAG_SUB_SEC_TIME_DIGITIZED] {
            try exif.text(EXIF_IFD_EXIF, tag, date.thousandths)
        }
        // Y, Cb and Cr.
        if !isRaw { try exif.bytes(EXIF_IFD_EXIF, EXIF_TAG_COMPONENTS_CONFIGURATION, [1, 2, 3, 0]) }
        try exif.bytes(EXIF_IFD_EXIF, EXIF_TAG_FLASH_PIX_VERSION, Array("0100".utf8))
        // sRGB, which is what viewers take it for, or none.
        try exif.short(EXIF_IFD_EXIF, EXIF_TAG_COLOR_SPACE, isRaw ? 0xffff : 1)
        try exif.text(EXIF_IFD_EXIF, EXIF_TAG_IMAGE_UNIQUE_ID, FileFacts.uniqueID())
        try exif.long(EXIF_IFD_EXIF, EXIF_TAG_PIXEL_X_DIMENSION, width)
        try exif.long(EXIF_IFD_EXIF, EXIF_TAG_PIXEL_Y_DIMENSION, height)
        if origin.exposure > 0 {
            // A fraction of a second, in microseconds.
            let time = UInt32(clamping: origin.exposure / 1000)
            try exif.rational(EXIF_IFD_EXIF, EXIF_TAG_EXPOSURE_TIME, time, 1_000_000)
        }
        if origin.sensitivity > 0 {
            try exif.short(EXIF_IFD_EXIF, EXIF_TAG_ISO_SPEED_RATINGS, Int(clamping: origin.sensitivity))
        }
        if let mode = origin.exposureMode {
            let number =
                switch mode {
                case .automatic: 0
                case .manual: 1
                case .bracket: 2
                }
            try exif.short(EXIF_IFD_EXIF, EXIF_TAG_EXPOSURE_MODE, number)
        }
        // It shone, or not, because that was asked for.
        if let isLit = origin.isLit { try exif.short(EXIF_IFD_EXIF, EXIF_TAG_FLASH, isLit ? 0x09 : 0x10) }
        if let bias = origin.exposureBias {
            try exif.signed(EXIF_IFD_EXIF, EXIF_TAG_EXPOSURE_BIAS_VALUE, Int32(clamping: bias), 1000)
        }
        if let balance = origin.whiteBalance {
            try exif.short(EXIF_IFD_EXIF, EXIF_TAG_WHITE_BALANCE, balance == .automatic ? 0 : 1)
        }
        // Cameras count their gain as they like, so it is no speed of ISO 12232; how much it is, in words.
        if let gain = origin.gain {
            try exif.bytes(EXIF_IFD_EXIF, EXIF_TAG_USER_COMMENT, Array("ASCII\0\0\0Gain \(gain)".utf8))
        }
    }

    /// 128 random bits in hexadecimal.
    private static func uniqueID() -> String {
        (0..<2).map { _ in String(UInt64.random(in: 0...UInt64.max), digits: 16, radix: 16) }.joined()
    }
}
