public import CaptureCore
import MediaConversion

/// The format that a `VideoDataOutput` converts frames to. A value of `nil` leaves the camera's.
public struct VideoSettings: Hashable, Sendable {
    /// The pixel formats that can be asked for. Those with red, green and blue come out opaque and with the full range,
    /// 0 to 255. The others keep the camera's range: `VideoFrame/format` has it, `color.quantization` 1 for the full one.
    public static let pixelFormats = VideoConverter.pixelFormats
    /// Pixels, across or down, that can be asked for.
    public static let sizes = 2...16384
    /// Frames a second that can be asked for.
    public static let frameRates = 0.001...1000

    /// How pixels are stored.
    public let pixelFormat: PixelFormat?
    /// Pixels in a row.
    public let width: Int?
    /// Rows.
    public let height: Int?
    /// Frames a second at most. A faster camera's frames are left out evenly, and do not count as dropped.
    public let framesPerSecond: Double?

    /// Settings for frames.
    ///
    /// A width alone keeps the picture's proportions, and so does a height alone; both together stretch it. Without a
    /// pixel format, scaled frames keep the camera's if it is one of `pixelFormats`, and are converted to NV12 if not.
    ///
    /// - Parameters:
    ///   - pixelFormat: One of `pixelFormats`.
    ///   - width: Pixels in a row, 2 to 16384. Even, except for grey and for red, green and blue.
    ///   - height: Rows, 2 to 16384. Even, except for grey and for red, green and blue.
    ///   - framesPerSecond: 0.001 to 1000.
    /// - Throws: `CaptureError.Code.usage` naming the value that cannot be asked for. An odd size without a pixel format
    ///   is not refused here: if the frames' format needs an even one, the output ends with `noSuchFormat`.
    public init(
        pixelFormat: PixelFormat? = nil,
        width: Int? = nil,
        height: Int? = nil,
        framesPerSecond: Double? = nil
    ) throws(CaptureError) {
        if let pixelFormat, !VideoSettings.pixelFormats.contains(pixelFormat) {
            throw CaptureError(
                .usage,
                "frames cannot be converted to \(pixelFormat); choose one of "
                    + VideoSettings.pixelFormats.map(\.description).joined(separator: ", ")
            )
        }
        for (name, value) in [("width", width), ("height", height)] {
            guard let value else { continue }
            guard VideoSettings.sizes.contains(value) else {
                throw CaptureError(.usage, "a \(name) of \(value) is out of range: 2 to 16384")
            }
            if let pixelFormat { try VideoSettings.check(pixelFormat, name, value, .usage) }
        }
        if let framesPerSecond, !VideoSettings.frameRates.contains(framesPerSecond) {
            throw CaptureError(.usage, "\(framesPerSecond) frames a second are out of range: 0.001 to 1000")
        }
        self.pixelFormat = pixelFormat
        self.width = width
        self.height = height
        self.framesPerSecond = framesPerSecond
    }

    /// The camera's frames as they are.
    public static let camera = VideoSettings()

    private init() {
        (pixelFormat, width, height, framesPerSecond) = (nil, nil, nil, nil)
    }

    /// What the size is a multiple of.
    private static func step(_ pixelFormat: PixelFormat) -> Int {
        let planes = PixelStructure(pixelFormat)?.planes ?? []
        return planes.contains { $0.across > 1 || $0.down > 1 } ? 2 : 1
    }

    /// Throws when a pixel format needs an even size.
    private static func check(
        _ pixelFormat: PixelFormat,
        _ name: String,
        _ value: Int?,
        _ code: CaptureError.Code
    ) throws(CaptureError) {
        guard let value, value % step(pixelFormat) != 0 else { return }
        throw CaptureError(
            code,
            "\(pixelFormat) needs an even \(name), not \(value); use \(value - 1) or \(value + 1)"
        )
    }

    /// Makes a converter for a camera's frames; `nil` if they are as they are asked for.
    func converter(from source: VideoFormat) throws(CaptureError) -> VideoConverter? {
        let isSame =
            (pixelFormat ?? source.pixelFormat) == source.pixelFormat && (width ?? source.width) == source.width
            && (height ?? source.height) == source.height
        // A format that was asked for is opaque and has the full range, also if the camera's has not.
        if isSame, pixelFormat == nil || VideoConverter.isPlain(source) { return nil }
        let pixelFormat =
            pixelFormat ?? (VideoSettings.pixelFormats.contains(source.pixelFormat) ? source.pixelFormat : .nv12)
        try VideoSettings.check(pixelFormat, "width", width, .noSuchFormat)
        try VideoSettings.check(pixelFormat, "height", height, .noSuchFormat)
        let step = VideoSettings.step(pixelFormat)
        func fitted(_ value: Int) -> Int { min(max(value / step * step, 2), VideoSettings.sizes.upperBound) }
        let size =
            switch (width, height) {
            case (let width?, let height?): (width, height)
            case (let width?, nil): (width, fitted((source.height * width + source.width / 2) / source.width))
            case (nil, let height?): (fitted((source.width * height + source.height / 2) / source.height), height)
            case (nil, nil): (fitted(source.width), fitted(source.height))
            }
        return try VideoConverter(source, to: pixelFormat, width: size.0, height: size.1)
    }
}

/// Leaves out frames so that no more than a number come in a second. Thread-bound.
struct FramePace {
    private let period: Int64
    private let slack: Int64
    private var due: Int64?

    /// A pace for a camera whose frames are `interval` nanoseconds apart, 0 if nobody knows.
    init(framesPerSecond: Double?, interval: Int64) {
        period = framesPerSecond.map { Int64(1e9 / $0) } ?? 0
        // A frame that is not quite due is nearer than the next.
        slack = min(interval, period) / 2
    }

    /// How many of some frames, lost before the one of a time, were to be handed over. That one takes the place of the
    /// last that was due.
    mutating func lost(_ count: UInt64, before time: Timestamp) -> UInt64 {
        if period == 0 { return count }
        guard count > 0, let due else { return 0 }
        let behind = time.advanced(by: slack) - Timestamp(nanoseconds: due)
        let lost = min(count, UInt64(max(behind / period, 0)))
        self.due = Timestamp(nanoseconds: due).advanced(by: Int64(lost) * period).nanoseconds
        return lost
    }

    /// Whether the frame of a time is to be handed over.
    mutating func takes(_ time: Timestamp) -> Bool {
        if period == 0 { return true }
        guard let due else {
            self.due = time.advanced(by: period).nanoseconds
            return true
        }
        let early = Timestamp(nanoseconds: due) - time
        // After a break, the frames that are missing are not made up for. Nor does a stamp that leapt ahead hold up more.
        let isBreak = early < -period || early > slack + period
        if early > slack, !isBreak { return false }
        let base = isBreak ? time : Timestamp(nanoseconds: due)
        self.due = base.advanced(by: period).nanoseconds
        return true
    }
}
