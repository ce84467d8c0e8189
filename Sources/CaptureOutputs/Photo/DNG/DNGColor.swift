import CaptureCore
import MediaConversion

/// What a DNG says of the colours of a sensor's numbers.
///
/// Sensors are linear: their numbers grow with the light. Many drivers call that sRGB, the default of V4L2, which it is
/// not, so sRGB's curve is not believed of a Bayer format. Of another transfer function a table makes linear numbers. If
/// the primaries are unknown (V4L2_COLORSPACE_RAW), the file names sRGB's.
struct DNGColor {
    /// From the stored number to one of 16 bits that grows with the light; `nil` if the stored ones do.
    let linearization: [UInt16]?
    /// The number of black, behind the table if there is one.
    let black: Int
    /// The number of white, behind the table if there is one.
    let white: Int
    /// From CIE XYZ to the sensor's red, green and blue, row by row.
    let matrix: [Float]

    /// What goes with numbers of so many bits.
    init(_ color: ColorDescription, depth: Int) {
        let most = 1 << depth - 1
        // Full range, unless the driver says otherwise.
        let isLimited = color.quantization == 2
        let (low, high) = isLimited ? (16 << (depth - 8), 235 << (depth - 8)) : (0, most)
        let curve = DNGColor.curve(color)
        matrix = DNGColor.matrix(color.colorSpace)
        if curve == .linear {
            (linearization, black, white) = (nil, low, high)
        } else {
            // The count of a table is a number of 16 bits; what lies behind its end is as its last.
            linearization = (0...min(most, 65534)).map { number in
                let signal = Double(number - low) / Double(high - low)
                return UInt16((curve.light(min(max(signal, 0), 1)) * 65535).rounded())
            }
            (black, white) = (0, 65535)
        }
    }

    /// How the stored numbers stand for light, after V4L2's transfer functions.
    private static func curve(_ color: ColorDescription) -> Transfer {
        switch color.transfer {
        case 1: .rec709
        case 3: .opRGB
        case 4: .smpte240
        case 6: .power(2.6)
        case 7: .smpte2084
        // V4L2_XFER_FUNC_DEFAULT and _SRGB.
        default: .linear
        }
    }

    /// x and y of red, green and blue of V4L2's colour spaces, all with the white of D65 here.
    private static func primaries(_ colorSpace: UInt32) -> [(x: Double, y: Double)] {
        switch colorSpace {
        // V4L2_COLORSPACE_SMPTE170M, _SMPTE240M.
        case 1, 2: [(0.630, 0.340), (0.310, 0.595), (0.155, 0.070)]
        // V4L2_COLORSPACE_470_SYSTEM_M, _470_SYSTEM_BG.
        case 5: [(0.67, 0.33), (0.21, 0.71), (0.14, 0.08)]
        case 6: [(0.64, 0.33), (0.29, 0.60), (0.15, 0.06)]
        case ColorMeaning.Space.opRGB: [(0.64, 0.33), (0.21, 0.71), (0.15, 0.06)]
        case ColorMeaning.Space.bt2020: [(0.708, 0.292), (0.170, 0.797), (0.131, 0.046)]
        case ColorMeaning.Space.dciP3: [(0.680, 0.320), (0.265, 0.690), (0.150, 0.060)]
        default: [(0.640, 0.330), (0.300, 0.600), (0.150, 0.060)]
        }
    }

    /// The inverse of the matrix whose columns are the primaries, scaled so that their sum is white.
    private static func matrix(_ colorSpace: UInt32) -> [Float] {
        let columns = primaries(colorSpace).map { [$0.x / $0.y, 1, (1 - $0.x - $0.y) / $0.y] }
        let white = [0.3127 / 0.3290, 1, (1 - 0.3127 - 0.3290) / 0.3290]
        func cross(_ one: [Double], _ other: [Double]) -> [Double] {
            [
                one[1] * other[2] - one[2] * other[1], one[2] * other[0] - one[0] * other[2],
                one[0] * other[1] - one[1] * other[0],
            ]
        }
        func dot(_ one: [Double], _ other: [Double]) -> Double { zip(one, other).reduce(0) { $0 + $1.0 * $1.1 } }
        // A row of the inverse is at right angles to the other two columns, and 1 for white.
        return (0..<3).flatMap { index in
            let row = cross(columns[(index + 1) % 3], columns[(index + 2) % 3])
            let scale = 1 / dot(row, white)
            return row.map { Float($0 * scale) }
        }
    }
}
