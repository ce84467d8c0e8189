package import CaptureCore

/// What the numbers of a picture mean, after the defaults of V4L2.
package struct ColorMeaning: Hashable, Sendable {
    /// How red, green and blue are mixed to luma and chroma.
    package enum Matrix: Hashable, Sendable {
        case bt601
        case bt709
        case bt2020
        /// BT.2020 with luma of linear light.
        case bt2020Constant
        case smpte240
    }

    /// V4L2's numbers of colour spaces.
    package enum Space {
        package static let smpte240: UInt32 = 2
        package static let rec709: UInt32 = 3
        package static let jpeg: UInt32 = 7
        package static let srgb: UInt32 = 8
        package static let opRGB: UInt32 = 9
        package static let bt2020: UInt32 = 10
        package static let dciP3: UInt32 = 12
    }

    /// Whether black is 0 and white 255, instead of 16 and 235.
    package var isFullRange: Bool
    /// How colours are mixed; without meaning for red, green and blue.
    package var matrix: Matrix
    /// V4L2's number of the primaries.
    package var colorSpace: UInt32
    /// V4L2's number of the transfer function.
    package var transfer: UInt32

    /// What a JPEG's numbers mean, whatever the camera says.
    package static let jpeg = ColorMeaning(isFullRange: true, matrix: .bt601, colorSpace: Space.jpeg, transfer: 0)

    package init(isFullRange: Bool, matrix: Matrix, colorSpace: UInt32, transfer: UInt32) {
        self.isFullRange = isFullRange
        self.matrix = matrix
        self.colorSpace = colorSpace
        self.transfer = transfer
    }

    /// What a camera's numbers mean.
    ///
    /// V4L2_MAP_QUANTIZATION_DEFAULT: limited range for luma with chroma, but for JPEG; full range for all else.
    package init(_ color: ColorDescription, _ model: PixelStructure.Model) {
        colorSpace = color.colorSpace
        transfer = color.transfer
        isFullRange =
            color.quantization == 1 || (color.quantization == 0 && (color.colorSpace == Space.jpeg || model != .yuv))
        guard model == .yuv else {
            matrix = .bt601
            return
        }
        switch (color.encoding, color.colorSpace) {
        // V4L2_YCBCR_ENC_601, _709, XV601, XV709, BT2020, BT2020 constant, SMPTE240M.
        case (1, _), (3, _), (5, _): matrix = .bt601
        case (2, _), (4, _): matrix = .bt709
        case (6, _): matrix = .bt2020
        case (7, _): matrix = .bt2020Constant
        case (8, _): matrix = .smpte240
        // V4L2_MAP_YCBCR_ENC_DEFAULT.
        case (_, Space.rec709), (_, Space.dciP3): matrix = .bt709
        case (_, Space.bt2020): matrix = .bt2020
        case (_, Space.smpte240): matrix = .smpte240
        default: matrix = .bt601
        }
        // xvYCC is a use of the room that limited range leaves.
        if color.encoding == 3 || color.encoding == 4 { isFullRange = false }
    }

    /// Whether no player can be told of the primaries, so that the colours are brought to sRGB.
    package var needsRecoloring: Bool { colorSpace == Space.opRGB }

    /// The same colours as red, green and blue.
    package var asRGB: ColorMeaning {
        ColorMeaning(isFullRange: true, matrix: .bt601, colorSpace: colorSpace, transfer: transfer)
    }

    /// Red, green and blue of these primaries, mixed here to luma and chroma as BT.601 has it.
    package var mixed: ColorMeaning {
        ColorMeaning(isFullRange: false, matrix: .bt601, colorSpace: colorSpace, transfer: transfer)
    }
}

extension ColorMeaning {
    /// In V4L2's numbers, with nothing left to defaults.
    var description: ColorDescription {
        let encoding: UInt32 =
            switch matrix {
            case .bt601: 1
            case .bt709: 2
            case .bt2020: 6
            case .bt2020Constant: 7
            case .smpte240: 8
            }
        return ColorDescription(
            colorSpace: colorSpace,
            transfer: transfer,
            encoding: encoding,
            quantization: isFullRange ? 1 : 2
        )
    }
}
