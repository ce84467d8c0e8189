import CTurboJPEG
import CaptureCore
import MediaConversion
import MediaExamination

/// Makes small JPEG images of pictures, by libjpeg-turbo: at most 160 pixels wide and high, as EXIF recommends.
enum Thumbnail {
    private static let side = 160
    private static let quality: Int32 = 75

    /// The thumbnail of a whole JPEG, which is decoded no larger than needed.
    static func of(jpeg: [UInt8]) throws(CaptureError) -> [UInt8] {
        guard let decoder = unsafe tjInitDecompress() else {
            throw CaptureError(.internalFault, "libjpeg-turbo has no decoder to give")
        }
        defer { unsafe tjDestroy(decoder) }
        var (width, height, sampling, space): (Int32, Int32, Int32, Int32) = (0, 0, 0, 0)
        let size = UInt(jpeg.count)
        try unsafe check(tjDecompressHeader3(decoder, jpeg, size, &width, &height, &sampling, &space), decoder)
        // Eighths that the decoder can leave out by itself.
        let longest = Int(max(width, height))
        let divisor = [8, 4, 2].first { (longest + $0 - 1) / $0 >= side } ?? 1
        let (small, low) = ((Int(width) + divisor - 1) / divisor, (Int(height) + divisor - 1) / divisor)
        var pixels = [UInt8](repeating: 0, count: small * low * 3)
        let format = Int32(TJPF_RGB.rawValue)
        try unsafe check(
            tjDecompress2(decoder, jpeg, size, &pixels, Int32(small), 0, Int32(low), format, 0),
            decoder
        )
        return try unsafe pixels.withUnsafeBufferPointer { (memory) throws(CaptureError) in
            try unsafe of(UnsafeRawBufferPointer(memory), width: small, height: low)
        }
    }

    /// The thumbnail of a picture that is scaled down already; `nil` if that is too small for one.
    static func of(_ picture: SmallPicture) throws(CaptureError) -> [UInt8]? {
        guard max(picture.width, picture.height) >= side else { return nil }
        return try unsafe picture.pixels.withUnsafeBufferPointer { (memory) throws(CaptureError) in
            try unsafe of(UnsafeRawBufferPointer(memory), width: picture.width, height: picture.height)
        }
    }

    /// The thumbnail of a picture of luma and chroma as JPEG has them.
    static func of(_ picture: PicturePlanes, _ layout: PictureLayout) throws(CaptureError) -> [UInt8] {
        let (columns, rows) = size(of: layout.width, layout.height)
        let small = SmallPicture(picture, layout, width: columns, height: rows)
        return try Thumbnails.encode(small.pixels, width: columns, height: rows, quality: quality)
    }

    /// The sides of a thumbnail. Squares of so many pixels become one.
    private static func size(of width: Int, _ height: Int) -> (columns: Int, rows: Int) {
        let square = Thumbnail.square(of: width, height)
        return (max(width / square, 1), max(height / square, 1))
    }

    private static func square(of width: Int, _ height: Int) -> Int { (max(width, height) + side - 1) / side }

    /// The thumbnail of a picture of red, green and blue without gaps.
    static func of(_ pixels: UnsafeRawBufferPointer, width: Int, height: Int) throws(CaptureError) -> [UInt8] {
        guard width > 0, height > 0, pixels.count >= width * height * 3 else {
            throw CaptureError(.internalFault, "a picture is smaller than its format")
        }
        let square = Thumbnail.square(of: width, height)
        let (columns, rows) = size(of: width, height)
        var small: [UInt8] = []
        small.reserveCapacity(columns * rows * 3)
        for row in 0..<rows {
            for column in 0..<columns {
                for color in 0..<3 {
                    var (sum, count) = (0, 0)
                    for y in row * square..<min((row + 1) * square, height) {
                        for x in column * square..<min((column + 1) * square, width) {
                            sum += unsafe Int(pixels[(y * width + x) * 3 + color])
                            count += 1
                        }
                    }
                    small.append(UInt8(sum / max(count, 1)))
                }
            }
        }
        return try Thumbnails.encode(small, width: columns, height: rows, quality: quality)
    }

    private static func check(_ result: Int32, _ handle: tjhandle) throws(CaptureError) {
        // What a decoder only warns of, a camera's JPEG may have.
        if unsafe result == 0 || tjGetErrorCode(handle) == Int32(TJERR_WARNING.rawValue) { return }
        let words = unsafe tjGetErrorStr2(handle).map { unsafe String(cString: $0) } ?? ""
        throw CaptureError(.internalFault, "could not make a thumbnail: \(words)")
    }
}
