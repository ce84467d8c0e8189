import CLibAV

/// How a stored picture lies, and so how it is turned and mirrored to stand upright. The numbers are those of EXIF.
package enum PictureOrientation: Int, CaseIterable {
    case upright = 1
    case mirrored = 2
    case upsideDown = 3
    case upsideDownMirrored = 4
    case leftMirrored = 5
    /// To be turned clockwise by a quarter.
    case left = 6
    case rightMirrored = 7
    /// To be turned counterclockwise by a quarter.
    case right = 8

    /// Whether width and height change places.
    package var swapsSides: Bool { rawValue >= 5 }

    /// By the matrix that movies have; angles between quarters are taken as the nearest.
    @safe
    init(matrix: UnsafePointer<Int32>?) {
        self = .upright
        guard let matrix = unsafe matrix else { return }
        let isMirrored = unsafe Int64(matrix[0]) * Int64(matrix[4]) - Int64(matrix[1]) * Int64(matrix[3]) < 0
        var values = (0..<9).map { unsafe matrix[$0] }
        if isMirrored { unsafe av_display_matrix_flip(&values, 1, 0) }
        // Without the mirror, which comes last: counterclockwise degrees, and not a number for a matrix of zeros.
        let angle = unsafe av_display_rotation_get(values)
        guard angle.isFinite else { return }
        switch (Int((angle / 90).rounded()) & 3, isMirrored) {
        case (1, false): self = .right
        case (2, false): self = .upsideDown
        case (3, false): self = .left
        case (0, true): self = .mirrored
        case (1, true): self = .rightMirrored
        case (2, true): self = .upsideDownMirrored
        case (3, true): self = .leftMirrored
        default: self = .upright
        }
    }

    /// Where the upright picture takes a pixel from.
    ///
    /// - Parameters:
    ///   - x, y: A pixel of the upright picture.
    ///   - width, height: Sides of the stored one.
    func source(_ x: Int, _ y: Int, width: Int, height: Int) -> (x: Int, y: Int) {
        switch self {
        case .upright: (x, y)
        case .mirrored: (width - 1 - x, y)
        case .upsideDown: (width - 1 - x, height - 1 - y)
        case .upsideDownMirrored: (x, height - 1 - y)
        case .leftMirrored: (y, x)
        case .left: (y, height - 1 - x)
        case .rightMirrored: (width - 1 - y, height - 1 - x)
        case .right: (width - 1 - y, x)
        }
    }
}
