/// A small picture of red, green and blue, a byte each, rows tight.
package struct SmallPicture {
    package let pixels: [UInt8]
    /// Pixels in a row.
    package let width: Int
    /// Rows.
    package let height: Int

    package init(pixels: [UInt8], width: Int, height: Int) {
        self.pixels = pixels
        self.width = width
        self.height = height
    }

    /// A picture of luma and chroma as JPEG has them, of full range and BT.601, scaled down.
    ///
    /// - Parameters:
    ///   - layout: Of three planes.
    ///   - width: Pixels in a row, 1 or more, no more than the picture has.
    ///   - height: Rows, likewise.
    package init(_ picture: PicturePlanes, _ layout: PictureLayout, width: Int, height: Int) {
        func scaled(_ plane: VideoConverter.Samples) -> [UInt8] {
            unsafe [UInt8](unsafeUninitializedCapacity: width * height) { target, count in
                guard let bytes = target.baseAddress else { return }
                unsafe VideoConverter.scale(plane, (bytes, width, height))
                count = width * height
            }
        }
        let luma = unsafe scaled((picture.y, layout.width, layout.height))
        let u = unsafe scaled((picture.u, layout.chromaWidth, layout.chromaHeight))
        let v = unsafe scaled((picture.v, layout.chromaWidth, layout.chromaHeight))
        var pixels: [UInt8] = []
        pixels.reserveCapacity(width * height * 3)
        for index in 0..<(width * height) {
            // ITU-T T.871, in parts of 65536.
            let (y, blue, red) = (Int(luma[index]) << 16 + 32768, Int(u[index]) - 128, Int(v[index]) - 128)
            pixels.append(UInt8(clamping: (y + 91881 * red) >> 16))
            pixels.append(UInt8(clamping: (y - 22554 * blue - 46802 * red) >> 16))
            pixels.append(UInt8(clamping: (y + 116130 * blue) >> 16))
        }
        self.init(pixels: pixels, width: width, height: height)
    }
}
