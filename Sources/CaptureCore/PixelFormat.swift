/// How the pixels of a frame are stored: a V4L2 four-character code.
///
/// The codes are those of `linux/videodev2.h`. Any code is representable, so that a camera's unusual format can be
/// named and reported even if nothing here converts it.
public struct PixelFormat: Hashable, Sendable, RawRepresentable {
    /// The code as the kernel has it: the first character in the lowest byte, bit 31 for big-endian variants.
    public var rawValue: UInt32

    /// The format of a kernel code.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// The format of a four-character name such as `YUYV`; shorter names are filled with spaces, `-BE` marks the
    /// big-endian variant.
    ///
    /// - Returns: `nil` when the name is empty, longer than four characters, or not printable ASCII.
    public init?(name: some StringProtocol) {
        var characters = Array(name.utf8)
        var code: UInt32 = 0
        if (4...7).contains(characters.count), characters.suffix(3) == Array("-BE".utf8) {
            code = 1 << 31
            characters.removeLast(3)
        }
        guard !characters.isEmpty, characters.count <= 4, characters.allSatisfy({ (0x20...0x7e).contains($0) }) else {
            return nil
        }
        while characters.count < 4 { characters.append(0x20) }
        for (index, character) in characters.enumerated() { code |= UInt32(character) << (8 * UInt32(index)) }
        rawValue = code
    }

    private init(_ a: Unicode.Scalar, _ b: Unicode.Scalar, _ c: Unicode.Scalar, _ d: Unicode.Scalar) {
        rawValue = a.value | b.value << 8 | c.value << 16 | d.value << 24
    }

    /// 4:2:2 packed, Y Cb Y Cr.
    public static let yuyv = PixelFormat("Y", "U", "Y", "V")
    /// 4:2:2 packed, Cb Y Cr Y.
    public static let uyvy = PixelFormat("U", "Y", "V", "Y")
    /// 4:2:0, luma plane, interleaved chroma plane.
    public static let nv12 = PixelFormat("N", "V", "1", "2")
    /// 4:2:0, luma plane, interleaved chroma plane with Cr first.
    public static let nv21 = PixelFormat("N", "V", "2", "1")
    /// NV12 in two separate memory planes (multi-planar API).
    public static let nv12m = PixelFormat("N", "M", "1", "2")
    /// 4:2:0 in three planes, Y Cb Cr.
    public static let yuv420 = PixelFormat("Y", "U", "1", "2")
    /// 4:2:0 in three separate memory planes (multi-planar API).
    public static let yuv420m = PixelFormat("Y", "M", "1", "2")
    /// 4:2:2 in three planes.
    public static let yuv422p = PixelFormat("4", "2", "2", "P")
    /// Red, green, blue, a byte each.
    public static let rgb24 = PixelFormat("R", "G", "B", "3")
    /// Blue, green, red, a byte each.
    public static let bgr24 = PixelFormat("B", "G", "R", "3")
    /// Blue, green, red, a byte each, and one without meaning.
    public static let xbgr32 = PixelFormat("X", "R", "2", "4")
    /// Blue, green, red and alpha, a byte each.
    public static let bgra32 = PixelFormat("A", "R", "2", "4")
    /// Red, green, blue and alpha, a byte each.
    public static let rgba32 = PixelFormat("A", "B", "2", "4")
    /// Alpha, red, green and blue, a byte each.
    public static let argb32 = PixelFormat("B", "A", "2", "4")
    /// Luma alone, a byte a pixel.
    public static let grey = PixelFormat("G", "R", "E", "Y")
    /// Bayer, 8 bits, rows BGBG and GRGR.
    public static let sbggr8 = PixelFormat("B", "A", "8", "1")
    /// Bayer, 8 bits, rows RGRG and GBGB.
    public static let srggb8 = PixelFormat("R", "G", "G", "B")
    /// A JPEG image a frame.
    public static let mjpeg = PixelFormat("M", "J", "P", "G")
    /// A JPEG image a frame, as JFIF.
    public static let jpeg = PixelFormat("J", "P", "E", "G")
    /// H.264 with start codes.
    public static let h264 = PixelFormat("H", "2", "6", "4")
    /// H.265 with start codes.
    public static let hevc = PixelFormat("H", "E", "V", "C")
    /// Depth: a distance of 16 bits for each pixel.
    public static let z16 = PixelFormat("Z", "1", "6", " ")

    /// Whether its numbers are distances, and no picture.
    public var isDepth: Bool { PixelStructure(self)?.model == .depth }

    /// Whether frames are a sensor's own numbers, one colour a pixel, in a Bayer pattern that is read here.
    public var isBayer: Bool {
        if case .bayer = PixelStructure(self)?.model { true } else { false }
    }

    /// Whether a frame is a compressed image or access unit, whose length varies from frame to frame.
    public var isCompressed: Bool {
        [.mjpeg, .jpeg, .h264, .hevc].contains(self)
    }
}

extension PixelFormat: CustomStringConvertible {
    /// The four-character name, trailing spaces left out.
    public var description: String {
        var name = ""
        for shift in [0, 8, 16, 24] as [UInt32] {
            let byte = UInt8(truncatingIfNeeded: rawValue >> shift) & 0x7f
            name.unicodeScalars.append((0x20...0x7e).contains(byte) ? Unicode.Scalar(byte) : "?")
        }
        while name.hasSuffix(" ") { name.removeLast() }
        return rawValue >> 31 == 1 ? name + "-BE" : name
    }
}
