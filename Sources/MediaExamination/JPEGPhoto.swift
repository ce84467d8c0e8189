import CTurboJPEG
import CaptureCore
import MediaConversion

/// A JPEG of any making, decoded to its last byte by libjpeg-turbo and scaled down while it is, so that the memory for it
/// does not grow with it. Thread-bound.
@safe
final class JPEGPhoto {
    /// Width and height as they are stored.
    let size: (width: Int, height: Int)
    private let decoder: tjhandle
    private let bytes: ByteView
    private let isCMYK: Bool

    /// Reads the header; the bytes are to stay as long as the object.
    init(_ bytes: ByteView) throws(CaptureError) {
        guard let handle = unsafe tjInitDecompress() else {
            throw CaptureError(.internalFault, "libjpeg-turbo has no decoder to give")
        }
        unsafe decoder = unsafe handle
        self.bytes = bytes
        var (width, height, sampling, colors) = (Int32(0), Int32(0), Int32(0), Int32(0))
        let result = unsafe bytes.withBytes { bytes in
            unsafe tjDecompressHeader3(
                handle,
                bytes.bindMemory(to: UInt8.self).baseAddress,
                UInt(bytes.count),
                &width,
                &height,
                &sampling,
                &colors
            )
        }
        size = (Int(width), Int(height))
        isCMYK = colors == Int32(TJCS_CMYK.rawValue) || colors == Int32(TJCS_YCCK.rawValue)
        let isRead = unsafe result == 0 || JPEGWarning(handle) != nil
        guard isRead, width > 0, height > 0 else {
            throw CaptureError(.badData, "the JPEG has no header that can be read: \(unsafe JPEGPhoto.reason(handle))")
        }
    }

    deinit {
        unsafe tjDestroy(decoder)
    }

    /// Decodes all of it.
    ///
    /// - Returns: The picture, no smaller than the largest thumbnail if it was not.
    /// - Throws: `badData` when it is cut off or damaged.
    func decode() throws(CaptureError) -> Raster {
        let (width, height) = scaledSize()
        var raster = Raster(width: width, height: height)
        let stride = Int32(raster.stride)
        let decoder = unsafe decoder
        let bytes = bytes
        let format = isCMYK ? Int32(TJPF_CMYK.rawValue) : Int32(TJPF_RGBA.rawValue)
        let result = unsafe raster.withRows { rows in
            unsafe bytes.withBytes { bytes in
                unsafe tjDecompress2(
                    decoder,
                    bytes.bindMemory(to: UInt8.self).baseAddress,
                    UInt(bytes.count),
                    rows,
                    Int32(width),
                    stride,
                    Int32(height),
                    format,
                    Int32(TJFLAG_LIMITSCANS)
                )
            }
        }
        if result != 0 {
            let warning = unsafe JPEGWarning(decoder)
            // A first warning that is harmless hides later ones: whether the file breaks off is looked for.
            let isWhole = unsafe bytes.withBytes { unsafe JPEGImage.length($0, hasFill: true) } != nil
            guard let warning, warning != .damage, isWhole else {
                throw CaptureError(.badData, "the JPEG is cut off or damaged: \(unsafe JPEGPhoto.reason(decoder))")
            }
        }
        if isCMYK { JPEGPhoto.convert(&raster) }
        return raster
    }

    /// The smallest of the sides that the decoder can give which loses nothing for the largest thumbnail.
    private func scaledSize() -> (width: Int, height: Int) {
        let wanted = min(ExaminedMedia.thumbnailEdges.max() ?? 1, max(size.width, size.height))
        var count: Int32 = 0
        guard let factors = unsafe tjGetScalingFactors(&count) else { return size }
        var best = size
        for index in 0..<Int(count) {
            let factor = unsafe factors[index]
            func scale(_ side: Int) -> Int { (side * Int(factor.num) + Int(factor.denom) - 1) / Int(factor.denom) }
            let sides = (width: scale(size.width), height: scale(size.height))
            let longest = max(sides.width, sides.height)
            if longest >= wanted, longest < max(best.width, best.height) { best = sides }
        }
        return best
    }

    /// From the inverted inks that Adobe's programs write.
    private static func convert(_ raster: inout Raster) {
        let (width, height, stride) = (raster.width, raster.height, raster.stride)
        unsafe _ = raster.withRows { rows in
            for y in 0..<height {
                for x in 0..<width {
                    let pixel = unsafe rows + y * stride + x * 4
                    let black = unsafe Int(pixel[3])
                    for channel in 0..<3 { unsafe pixel[channel] = UInt8(Int(pixel[channel]) * black / 255) }
                    unsafe pixel[3] = 255
                }
            }
        }
    }

    private static func reason(_ decoder: tjhandle) -> String {
        unsafe tjGetErrorStr2(decoder).map { unsafe String(cString: $0) } ?? "for no reason that is known"
    }
}
