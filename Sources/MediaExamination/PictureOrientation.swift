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

    private static let turns: [PictureOrientation] = [.upright, .left, .upsideDown, .right]
    private static let mirroredTurns: [PictureOrientation] = [
        .mirrored, .rightMirrored, .upsideDownMirrored, .leftMirrored,
    ]

    /// To be mirrored left to right, and then turned clockwise by a number of quarters.
    package init(isMirrored: Bool, quarters: Int) {
        self = (isMirrored ? Self.mirroredTurns : Self.turns)[quarters & 3]
    }

    /// Whether it is to be mirrored left to right, and by how many quarters it is then to be turned clockwise.
    package var parts: (isMirrored: Bool, quarters: Int) {
        if let quarters = Self.turns.firstIndex(of: self) { return (false, quarters) }
        return (true, Self.mirroredTurns.firstIndex(of: self) ?? 0)
    }

    /// The orientation of a picture that is turned and mirrored once more when it stands upright.
    package func followed(by next: PictureOrientation) -> PictureOrientation {
        let (first, second) = (parts, next.parts)
        // A mirror makes a turn before it one the other way round.
        return PictureOrientation(
            isMirrored: first.isMirrored != second.isMirrored,
            quarters: second.quarters + (second.isMirrored ? -first.quarters : first.quarters)
        )
    }

    /// The first two rows of the matrix that movies have, as whole numbers: where a step to the right and a step down in
    /// the stored picture lead in the upright one.
    package var steps: (right: (x: Int, y: Int), down: (x: Int, y: Int)) {
        func turned(_ x: Int, _ y: Int) -> (x: Int, y: Int) {
            (0..<parts.quarters).reduce((parts.isMirrored ? -x : x, y)) { step, _ in (-step.1, step.0) }
        }
        return (turned(1, 0), turned(0, 1))
    }

    /// Where the upright picture takes a pixel from.
    ///
    /// - Parameters:
    ///   - x, y: A pixel of the upright picture.
    ///   - width, height: Sides of the stored one.
    package func source(_ x: Int, _ y: Int, width: Int, height: Int) -> (x: Int, y: Int) {
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
