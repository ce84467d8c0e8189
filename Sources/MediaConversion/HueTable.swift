/// From hue, saturation and value to red, green and blue.
enum HueTable {
    /// V4L2_HSV_ENC_180: a hue counts two degrees.
    private static let halved: UInt32 = 128

    /// Each hue in 256ths of a sixth of the circle, as the sixth and what is behind it.
    ///
    /// - Parameter encoding: `enum v4l2_hsv_encoding`. 0 goes round in 256 steps, as the one driver with such formats,
    ///   vivid, has it.
    static func sectors(_ encoding: UInt32) -> [(sixth: Int, rest: Int)] {
        let round = encoding == halved ? 180 : 256
        return (0..<256).map { hue in
            let place = (hue % round) * 6 * 256 / round
            return (place / 256, place % 256)
        }
    }

    /// Turns pixels, three bytes each, where they stand.
    static func turn(_ pixels: UnsafeMutablePointer<UInt8>, count: Int, _ sectors: [(sixth: Int, rest: Int)]) {
        for index in 0..<count {
            let pixel = unsafe pixels + 3 * index
            let (hue, saturation, value) = unsafe (Int(pixel[0]), Int(pixel[1]), Int(pixel[2]))
            let (sixth, rest) = sectors[hue]
            func part(_ share: Int) -> UInt8 { UInt8((value * (255 * 256 - saturation * share) + 32640) / 65280) }
            let (least, falling, rising) = (part(256), part(rest), part(256 - rest))
            let most = UInt8(value)
            let (red, green, blue) =
                switch sixth {
                case 0: (most, rising, least)
                case 1: (falling, most, least)
                case 2: (least, most, rising)
                case 3: (least, falling, most)
                case 4: (rising, least, most)
                default: (most, least, falling)
                }
            unsafe (pixel[0], pixel[1], pixel[2]) = (red, green, blue)
        }
    }
}
