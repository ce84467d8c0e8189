/// The time between two frames, in seconds, as a fraction: V4L2's `timeperframe`.
public struct FrameInterval: Hashable, Sendable {
    /// Seconds, over `denominator`.
    public var numerator: UInt32
    /// The divisor of `numerator`; never 0.
    public var denominator: UInt32

    /// An interval of `numerator / denominator` seconds; a zero denominator is read as 1.
    public init(_ numerator: UInt32, _ denominator: UInt32) {
        self.numerator = numerator
        self.denominator = max(denominator, 1)
    }

    /// The interval of a rate of whole frames a second.
    public init(framesPerSecond: UInt32) {
        self.init(1, framesPerSecond)
    }

    /// Frames a second; 0 for a zero interval, which means that the driver does not say.
    public var framesPerSecond: Double {
        numerator == 0 ? 0 : Double(denominator) / Double(numerator)
    }

    /// Nanoseconds between two frames; 0 when the driver does not say.
    public var nanoseconds: Int64 {
        Int64(numerator) * 1_000_000_000 / Int64(denominator)
    }
}

/// Where one plane of a frame lies in its slot.
public struct PlaneLayout: Hashable, Sendable {
    /// Bytes from the start of the slot.
    public var offset: Int
    /// Bytes from one row to the next; 0 for compressed data.
    public var stride: Int
    /// Bytes of the plane; the most it can be for compressed data.
    public var size: Int

    /// A plane at `offset` with rows `stride` bytes apart and `size` bytes in all.
    public init(offset: Int, stride: Int, size: Int) {
        self.offset = offset
        self.stride = stride
        self.size = size
    }
}

/// How numbers become colours: the values of V4L2's enumerations of the same names, 0 if the driver does not say.
public struct ColorDescription: Hashable, Sendable {
    /// `enum v4l2_colorspace`.
    public var colorSpace: UInt32
    /// `enum v4l2_xfer_func`.
    public var transfer: UInt32
    /// `enum v4l2_ycbcr_encoding`.
    public var encoding: UInt32
    /// `enum v4l2_quantization`: 1 full range, 2 limited.
    public var quantization: UInt32

    /// A description of V4L2's four values.
    public init(colorSpace: UInt32 = 0, transfer: UInt32 = 0, encoding: UInt32 = 0, quantization: UInt32 = 0) {
        self.colorSpace = colorSpace
        self.transfer = transfer
        self.encoding = encoding
        self.quantization = quantization
    }
}

/// Whether a frame was taken at once, or is two fields of every other row, taken one after the other.
public enum FieldOrder: UInt32, Hashable, Sendable {
    /// All rows at once.
    case progressive = 0
    /// The field with the first row was taken first.
    case topFirst = 1
    /// The field with the second row was taken first.
    case bottomFirst = 2
}

/// The format of a camera's frames, as the driver reported it after negotiation.
public struct VideoFormat: Hashable, Sendable {
    /// How pixels are stored.
    public var pixelFormat: PixelFormat
    /// Pixels in a row.
    public var width: Int
    /// Rows of a frame.
    public var height: Int
    /// Time from frame to frame.
    public var interval: FrameInterval
    /// The *memory* planes, one to four: with the single-planar API one plane holds all colour planes, one behind the
    /// other, with V4L2's derived strides.
    public var planes: [PlaneLayout]
    /// How numbers become colours.
    public var color: ColorDescription
    /// Whether frames are interlaced.
    public var fields: FieldOrder

    /// A format of the given properties.
    public init(
        pixelFormat: PixelFormat,
        width: Int,
        height: Int,
        interval: FrameInterval,
        planes: [PlaneLayout],
        color: ColorDescription = ColorDescription(),
        fields: FieldOrder = .progressive
    ) {
        self.pixelFormat = pixelFormat
        self.width = width
        self.height = height
        self.interval = interval
        self.planes = planes
        self.color = color
        self.fields = fields
    }

    /// Bytes from the start of a slot to the end of its last plane.
    public var frameSize: Int {
        planes.map { $0.offset + $0.size }.max() ?? 0
    }
}

extension VideoFormat: CustomStringConvertible {
    /// As in `YUYV 1280x720 at 30 fps` or `UYVY 720x576 interlaced at 25 fps`.
    public var description: String {
        "\(pixelFormat) \(width)x\(height)\(fields == .progressive ? "" : " interlaced") at \(interval)"
    }
}

extension FrameInterval: CustomStringConvertible {
    /// As in `30 fps` or `12.5 fps`.
    public var description: String {
        let hundredths = Int((framesPerSecond * 100).rounded())
        if hundredths % 100 == 0 { return "\(hundredths / 100) fps" }
        let fraction = hundredths % 100
        return fraction % 10 == 0
            ? "\(hundredths / 100).\(fraction / 10) fps"
            : "\(hundredths / 100).\(String(fraction, digits: 2)) fps"
    }
}
