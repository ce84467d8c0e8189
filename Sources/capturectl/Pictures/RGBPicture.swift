import CTurboJPEG

/// A small picture as red, green and blue bytes, row by row.
struct RGBPicture {
    var width: Int
    var height: Int
    var bytes: [UInt8]

    /// Decodes a JPEG, made smaller while it is so that its height is at most this where that is possible.
    ///
    /// - Returns: `nil` for what cannot be decoded, or is no small picture.
    init?(jpeg: [UInt8], height most: Int) {
        guard let decoder = unsafe tjInitDecompress() else { return nil }
        defer { unsafe tjDestroy(decoder) }
        var (width, height, sampling, colors) = (Int32(0), Int32(0), Int32(0), Int32(0))
        let header = unsafe jpeg.withUnsafeBufferPointer { bytes in
            unsafe tjDecompressHeader3(
                decoder,
                bytes.baseAddress,
                UInt(bytes.count),
                &width,
                &height,
                &sampling,
                &colors
            )
        }
        // A thumbnail has at most 2048 pixels along its edges.
        guard header == 0, (1...2048).contains(width), (1...2048).contains(height) else { return nil }
        // The scales that libjpeg-turbo has are eighths.
        let eighths = (1...8).last { RGBPicture.scaled(Int(height), $0) <= most } ?? 1
        self.width = RGBPicture.scaled(Int(width), eighths)
        self.height = RGBPicture.scaled(Int(height), eighths)
        bytes = [UInt8](repeating: 0, count: self.width * self.height * 3)
        let (columns, rows) = (Int32(self.width), Int32(self.height))
        let result = unsafe bytes.withUnsafeMutableBufferPointer { pixels in
            unsafe jpeg.withUnsafeBufferPointer { bytes in
                unsafe tjDecompress2(
                    decoder,
                    bytes.baseAddress,
                    UInt(bytes.count),
                    pixels.baseAddress,
                    columns,
                    columns * 3,
                    rows,
                    Int32(TJPF_RGB.rawValue),
                    Int32(TJFLAG_LIMITSCANS)
                )
            }
        }
        guard result == 0 else { return nil }
    }

    /// The picture as a JPEG; `nil` if it cannot be encoded.
    var jpeg: [UInt8]? {
        guard let encoder = unsafe tjInitCompress() else { return nil }
        defer { unsafe tjDestroy(encoder) }
        var (file, size): (UnsafeMutablePointer<UInt8>?, UInt) = (nil, 0)
        let (columns, rows, format) = (Int32(width), Int32(height), Int32(TJPF_RGB.rawValue))
        let result = unsafe bytes.withUnsafeBufferPointer { pixels in
            unsafe tjCompress2(
                encoder,
                pixels.baseAddress,
                columns,
                columns * 3,
                rows,
                format,
                &file,
                &size,
                Int32(TJSAMP_420.rawValue),
                80,
                0
            )
        }
        defer { unsafe tjFree(file) }
        guard result == 0, let start = unsafe file else { return nil }
        return unsafe Array(UnsafeBufferPointer(start: start, count: Int(size)))
    }

    /// A picture of the given pixels.
    init(width: Int, height: Int, bytes: [UInt8]) {
        self.width = width
        self.height = height
        self.bytes = bytes
    }

    private static func scaled(_ length: Int, _ eighths: Int) -> Int { (length * eighths + 7) / 8 }
}
