/// Makes sixels of a picture: columns of six pixels, in 216 colours with an ordered dither.
struct SixelEncoder {
    /// The sequence.
    let sequence: String

    /// How many shades each of red, green and blue has.
    private static let shades = 6

    /// The thresholds of the dither, 0 to 15.
    private static let thresholds = [0, 8, 2, 10, 12, 4, 14, 6, 3, 11, 1, 9, 15, 7, 13, 5]

    init(_ picture: RGBPicture) {
        let indices = SixelEncoder.indices(picture)
        // The shape of pixels, and the size, so that the terminal makes room at once.
        var text = "\u{1B}P0;1;0q\"1;1;\(picture.width);\(picture.height)"
        for index in Set(indices).sorted() {
            let shades = [index / 36, index / 6 % 6, index % 6].map { "\($0 * 100 / (SixelEncoder.shades - 1))" }
            text += "#\(index);2;\(shades.joined(separator: ";"))"
        }
        for top in stride(from: 0, to: picture.height, by: 6) {
            let rows = indices[(top * picture.width)..<(min(top + 6, picture.height) * picture.width)]
            text += Set(rows).sorted().map { SixelEncoder.band(Array(rows), picture.width, $0) }.joined(separator: "$")
            text += "-"
        }
        sequence = text + "\u{1B}\\"
    }

    /// The colours of all pixels.
    private static func indices(_ picture: RGBPicture) -> [Int] {
        (0..<picture.width * picture.height).map { pixel in
            let threshold = thresholds[pixel / picture.width % 4 * 4 + pixel % picture.width % 4]
            return (0..<3).reduce(0) { index, channel in
                let scaled = Int(picture.bytes[pixel * 3 + channel]) * (shades - 1) * 16
                return index * shades + min(shades - 1, (scaled / 255 + threshold) / 16)
            }
        }
    }

    /// A colour's part of six rows, with repetitions told by their number.
    private static func band(_ rows: [Int], _ width: Int, _ index: Int) -> String {
        let height = rows.count / width
        var text = "#\(index)"
        var (last, count) = (0, 0)
        func flush() {
            let sign = String(UnicodeScalar(UInt8(63 + last)))
            text += count > 3 ? "!\(count)\(sign)" : String(repeating: sign, count: count)
        }
        for column in 0..<width {
            let bits = (0..<height).reduce(0) { $0 | (rows[$1 * width + column] == index ? 1 << $1 : 0) }
            if bits != last {
                flush()
                (last, count) = (bits, 0)
            }
            count += 1
        }
        flush()
        return text
    }
}
