import CaptureCore

/// A picture in three planes, one behind the other, rows tight: what encoders here are fed.
struct PictureLayout: Hashable, Sendable {
    /// How much finer luma is than chroma.
    enum Chroma: Hashable, Sendable {
        /// Halved both ways.
        case yuv420
        /// Halved across.
        case yuv422
    }

    /// Pixels in a row.
    let width: Int
    /// Rows.
    let height: Int
    /// How chroma is sampled.
    let chroma: Chroma

    /// Samples in a row of a chroma plane.
    var chromaWidth: Int { (width + 1) / 2 }
    /// Rows of a chroma plane.
    var chromaHeight: Int { chroma == .yuv420 ? (height + 1) / 2 : height }
    /// Bytes of the luma plane.
    var lumaSize: Int { width * height }
    /// Bytes of one chroma plane.
    var chromaSize: Int { chromaWidth * chromaHeight }
    /// Bytes of the picture.
    var size: Int { lumaSize + 2 * chromaSize }
}

/// The addresses of a picture's planes.
@safe
struct PicturePlanes {
    let y: UnsafeMutablePointer<UInt8>
    let u: UnsafeMutablePointer<UInt8>
    let v: UnsafeMutablePointer<UInt8>

    /// The planes of a picture of `layout` in `memory`, which is large enough and not empty.
    init?(_ layout: PictureLayout, in memory: UnsafeMutableRawBufferPointer) {
        guard memory.count >= layout.size, let base = memory.baseAddress else { return nil }
        unsafe y = base.assumingMemoryBound(to: UInt8.self)
        unsafe u = y + layout.lumaSize
        unsafe v = u + layout.chromaSize
    }
}

/// What the numbers of a picture mean, after the defaults of V4L2.
struct ColorMeaning: Hashable, Sendable {
    /// How red, green and blue are mixed to luma and chroma.
    enum Matrix: Hashable, Sendable {
        case bt601
        case bt709
        case bt2020
        case smpte240
    }

    /// Whether luma goes from 0 to 255, instead of 16 to 235.
    var isFullRange: Bool
    /// How colours are mixed.
    var matrix: Matrix
    /// V4L2's number of the primaries.
    var colorSpace: UInt32
    /// V4L2's number of the transfer function.
    var transfer: UInt32

    /// What a JPEG's numbers mean, whatever the camera says.
    static let jpeg = ColorMeaning(isFullRange: true, matrix: .bt601, colorSpace: 7, transfer: 0)

    init(isFullRange: Bool, matrix: Matrix, colorSpace: UInt32, transfer: UInt32) {
        self.isFullRange = isFullRange
        self.matrix = matrix
        self.colorSpace = colorSpace
        self.transfer = transfer
    }

    /// What a camera's numbers mean once they stand in planes of luma and chroma.
    ///
    /// - Parameter isRGB: The camera delivers red, green and blue, which are mixed here, as BT.601 has it.
    init(_ color: ColorDescription, isRGB: Bool) {
        colorSpace = color.colorSpace
        transfer = color.transfer
        if isRGB {
            isFullRange = false
            matrix = .bt601
            return
        }
        // V4L2_MAP_QUANTIZATION_DEFAULT: limited but for JPEG.
        isFullRange = color.quantization == 1 || (color.quantization == 0 && color.colorSpace == 7)
        switch (color.encoding, color.colorSpace) {
        // V4L2_YCBCR_ENC_601, _709, XV601, XV709, BT2020, BT2020 constant, SMPTE240M.
        case (1, _), (3, _), (5, _): matrix = .bt601
        case (2, _), (4, _): matrix = .bt709
        case (6, _), (7, _): matrix = .bt2020
        case (8, _): matrix = .smpte240
        // V4L2_MAP_YCBCR_ENC_DEFAULT: REC709 and DCI-P3, BT2020, SMPTE240M.
        case (_, 3), (_, 12): matrix = .bt709
        case (_, 10): matrix = .bt2020
        case (_, 2): matrix = .smpte240
        default: matrix = .bt601
        }
    }
}
