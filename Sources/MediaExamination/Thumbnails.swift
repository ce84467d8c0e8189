import CTurboJPEG
public import CaptureCore

/// Small pictures of a large one, as JPEG, upright, what is transparent on white.
public enum Thumbnails {
    private static let quality: Int32 = 85

    /// One for each of `ExaminedMedia.thumbnailEdges`; none larger than the picture, so that those of a small picture are
    /// alike.
    ///
    /// - Parameters:
    ///   - picture: As it is stored, scaled down to the largest thumbnail already or not at all.
    ///   - orientation: How it is turned upright.
    static func make(_ picture: Raster, _ orientation: PictureOrientation) throws(CaptureError) -> [[UInt8]] {
        var source = picture
        var made: [[UInt8]] = []
        // The largest first: each is made of the one before it.
        for edge in ExaminedMedia.thumbnailEdges.reversed() {
            let (width, height) = Raster.fit(source.width, source.height, within: edge)
            if made.isEmpty || (width, height) != (source.width, source.height) {
                if (width, height) != (source.width, source.height) {
                    source = try source.scaled(width: width, height: height)
                }
                made.append(try encode(source, orientation))
            } else if let last = made.last {
                made.append(last)
            }
        }
        return made.reversed()
    }

    private static func encode(_ picture: Raster, _ orientation: PictureOrientation) throws(CaptureError) -> [UInt8] {
        let swaps = orientation.swapsSides
        let (width, height) = swaps ? (picture.height, picture.width) : (picture.width, picture.height)
        let upright = turned(picture, orientation, width: width, height: height)
        return try encode(upright, width: width, height: height, quality: quality)
    }

    /// A small picture of red, green and blue without gaps, as JPEG.
    ///
    /// - Parameters:
    ///   - pixels: Three bytes for each pixel.
    ///   - width: In pixels, more than 0.
    ///   - height: In rows, more than 0.
    ///   - quality: 1 to 100.
    public static func encode(
        _ pixels: [UInt8],
        width: Int,
        height: Int,
        quality: Int32
    ) throws(CaptureError) -> [UInt8] {
        guard let encoder = unsafe tjInitCompress() else {
            throw CaptureError(.internalFault, "libjpeg-turbo has no encoder to give")
        }
        defer { unsafe tjDestroy(encoder) }
        let sampling = Int32(TJSAMP_420.rawValue)
        var size = tjBufSize(Int32(width), Int32(height), sampling)
        var image = [UInt8](repeating: 0, count: Int(size))
        let result = unsafe image.withUnsafeMutableBufferPointer { image in
            var start = image.baseAddress
            return unsafe tjCompress2(
                encoder,
                pixels,
                Int32(width),
                Int32(width * 3),
                Int32(height),
                Int32(TJPF_RGB.rawValue),
                &start,
                &size,
                sampling,
                quality,
                Int32(TJFLAG_NOREALLOC)
            )
        }
        guard result == 0 else { throw CaptureError(.internalFault, "a thumbnail could not be encoded") }
        image.removeLast(image.count - Int(size))
        return image
    }

    /// The pixels upright, without opacity, three bytes each.
    private static func turned(
        _ picture: Raster,
        _ orientation: PictureOrientation,
        width: Int,
        height: Int
    ) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: width * height * 3) { target, count in
            unsafe picture.pixels.withUnsafeBufferPointer { source in
                // Where a row of the upright picture begins in the stored one, and how far its next pixel is.
                let first = place(0, 0, picture, orientation)
                let (right, down) = (
                    width > 1 ? place(1, 0, picture, orientation) - first : 0,
                    height > 1 ? place(0, 1, picture, orientation) - first : 0
                )
                var at = 0
                for y in 0..<height {
                    var from = first + y * down
                    for _ in 0..<width {
                        let opacity = unsafe Int(source[from + 3])
                        for channel in 0..<3 {
                            let value = unsafe Int(source[from + channel])
                            unsafe target[at + channel] = UInt8((value * opacity + 255 * (255 - opacity) + 127) / 255)
                        }
                        at += 3
                        from += right
                    }
                }
                count = at
            }
        }
    }

    private static func place(_ x: Int, _ y: Int, _ picture: Raster, _ orientation: PictureOrientation) -> Int {
        let source = orientation.source(x, y, width: picture.width, height: picture.height)
        return source.y * picture.stride + source.x * 4
    }
}
