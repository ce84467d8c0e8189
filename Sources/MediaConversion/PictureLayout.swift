import CaptureCore

/// A picture, rows tight: what encoders here are fed.
package struct PictureLayout: Hashable, Sendable {
    /// What a pixel is made of.
    package enum Samples: Hashable, Sendable {
        /// Luma, Cb, Cr in three planes, one behind the other; chroma halved both ways.
        case yuv420
        /// The same, with chroma halved across.
        case yuv422
        /// The same, with chroma for each pixel.
        case yuv444
        /// Red, green and blue, a byte each, in one plane.
        case rgb
    }

    /// Pixels of a side at most: libyuv scales with places of 16 bits and as many of fractions.
    package static let mostSide = 16384
    /// Bytes from row to row at most: libyuv doubles strides of 32 bits.
    package static let mostStride = 1 << 24

    /// Pixels in a row.
    package let width: Int
    /// Rows.
    package let height: Int
    /// What a pixel is made of.
    package let samples: Samples

    /// Bytes of a row of the first plane.
    package var row: Int { samples == .rgb ? width * 3 : width }
    /// Samples in a row of a chroma plane.
    package var chromaWidth: Int {
        switch samples {
        case .yuv420, .yuv422: (width + 1) / 2
        case .yuv444: width
        case .rgb: 0
        }
    }
    /// Rows of a chroma plane.
    package var chromaHeight: Int {
        switch samples {
        case .yuv420: (height + 1) / 2
        case .yuv422, .yuv444: height
        case .rgb: 0
        }
    }
    /// Bytes of the first plane.
    package var lumaSize: Int { row * height }
    /// Bytes of one chroma plane.
    package var chromaSize: Int { chromaWidth * chromaHeight }
    /// Bytes of the picture.
    package var size: Int { lumaSize + 2 * chromaSize }

    /// A picture of so many pixels.
    package init(width: Int, height: Int, samples: Samples) {
        self.width = width
        self.height = height
        self.samples = samples
    }

    /// The same picture of other samples.
    package func with(_ samples: Samples) -> PictureLayout {
        PictureLayout(width: width, height: height, samples: samples)
    }
}

/// The addresses of a picture's planes.
@safe
package struct PicturePlanes {
    /// Luma, or the one plane of red, green and blue.
    package let y: UnsafeMutablePointer<UInt8>
    package let u: UnsafeMutablePointer<UInt8>
    package let v: UnsafeMutablePointer<UInt8>

    /// The planes of a picture of `layout` in `memory`, which is large enough and not empty.
    package init?(_ layout: PictureLayout, in memory: UnsafeMutableRawBufferPointer) {
        guard memory.count >= layout.size, let base = memory.baseAddress else { return nil }
        unsafe y = base.assumingMemoryBound(to: UInt8.self)
        unsafe u = y + layout.lumaSize
        unsafe v = u + layout.chromaSize
    }
}
