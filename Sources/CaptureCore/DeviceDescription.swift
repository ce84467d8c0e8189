/// Names one device, stably: what udev calls it, so that it is the same after a reboot and in the same port.
public struct DeviceID: Hashable, Sendable, RawRepresentable, CustomStringConvertible {
    /// As in `v4l2:usb-046d_HD_Webcam-video-index0`, `alsa:usb-…:0`, `synthetic:camera`.
    public var rawValue: String

    /// An id of the given text.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The id itself.
    public var description: String { rawValue }
}

/// Sizes that a camera offers in one pixel format.
public enum FrameSizes: Hashable, Sendable {
    /// Just these.
    case discrete([DiscreteSize])
    /// From a least to a most in steps; a step of 1 is V4L2's `CONTINUOUS`.
    case stepwise(StepwiseSize)
}

/// One size and its rates.
public struct DiscreteSize: Hashable, Sendable {
    /// Pixels in a row.
    public var width: Int
    /// Rows of a frame.
    public var height: Int
    /// The intervals offered at this size.
    public var intervals: FrameIntervals

    /// A size with its intervals.
    public init(width: Int, height: Int, intervals: FrameIntervals) {
        self.width = width
        self.height = height
        self.intervals = intervals
    }
}

/// A range of sizes.
public struct StepwiseSize: Hashable, Sendable {
    /// The least, most and step of the width, in pixels.
    public var width: (least: Int, most: Int, step: Int)
    /// The least, most and step of the height, in rows.
    public var height: (least: Int, most: Int, step: Int)
    /// The intervals offered at the largest size.
    public var intervals: FrameIntervals

    /// A range of sizes with the intervals of its largest.
    public init(
        width: (least: Int, most: Int, step: Int),
        height: (least: Int, most: Int, step: Int),
        intervals: FrameIntervals
    ) {
        self.width = width
        self.height = height
        self.intervals = intervals
    }

    /// Whether both say the same.
    public static func == (left: StepwiseSize, right: StepwiseSize) -> Bool {
        left.width == right.width && left.height == right.height && left.intervals == right.intervals
    }

    /// Takes part in hashing.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(width.most)
        hasher.combine(height.most)
    }
}

/// Frame intervals that a camera offers at one size.
public enum FrameIntervals: Hashable, Sendable {
    /// Just these; none when the driver does not say.
    case discrete([FrameInterval])
    /// From the shortest to the longest; `step` is nil if any value between is possible (V4L2's `CONTINUOUS`).
    case range(shortest: FrameInterval, longest: FrameInterval, step: FrameInterval?)
}

/// A pixel format that a camera offers.
public struct VideoFormatOption: Hashable, Sendable {
    /// How pixels are stored.
    public var pixelFormat: PixelFormat
    /// The driver's own words for it.
    public var name: String
    /// Whether the driver emulates it in software (`V4L2_FMT_FLAG_EMULATED`).
    public var isEmulated: Bool
    /// The sizes it comes in.
    public var sizes: FrameSizes

    /// An option of the given properties.
    public init(pixelFormat: PixelFormat, name: String, isEmulated: Bool = false, sizes: FrameSizes) {
        self.pixelFormat = pixelFormat
        self.name = name
        self.isEmulated = isEmulated
        self.sizes = sizes
    }
}

/// A range of formats that a microphone offers.
public struct AudioFormatOption: Hashable, Sendable {
    /// Sample formats that the hardware takes without conversion.
    public var sampleFormats: [String]
    /// Least and most sample rate, in Hz.
    public var rates: ClosedRange<Int>
    /// Least and most number of channels.
    public var channels: ClosedRange<Int>

    /// An option of the given properties.
    public init(sampleFormats: [String], rates: ClosedRange<Int>, channels: ClosedRange<Int>) {
        self.sampleFormats = sampleFormats
        self.rates = rates
        self.channels = channels
    }
}

/// A camera or microphone that is there, as its probe found it.
public struct DeviceDescription: Hashable, Sendable {
    /// The stable name.
    public var id: DeviceID
    /// Camera or microphone.
    public var mediaType: MediaType
    /// The readable name.
    public var name: String
    /// Other names that select it: `/dev/video0`, `hw:1,0`.
    public var aliases: [String]
    /// The kernel driver.
    public var driver: String
    /// Where it is attached, in the driver's words.
    public var bus: String
    /// How it is part of the machine.
    public var deviceType: DeviceType
    /// Where on the machine it is.
    public var position: DevicePosition
    /// Camera: the formats offered.
    public var videoFormats: [VideoFormatOption]
    /// Those of them in which it delivers distances, each frame from the device itself.
    public var depthFormats: [VideoFormatOption] { videoFormats.filter { !$0.isEmulated && $0.pixelFormat.isDepth } }

    /// Whether a camera delivers distances and no colours.
    public var isDepthCamera: Bool { !videoFormats.isEmpty && videoFormats.allSatisfy { $0.pixelFormat.isDepth } }
    /// Microphone: the formats offered.
    public var audioFormats: [AudioFormatOption]
    /// Camera: the metadata of its frames; `nil` if it has none.
    public var metadata: DeviceMetadata?

    /// A device of the given properties.
    public init(
        id: DeviceID,
        mediaType: MediaType,
        name: String,
        aliases: [String],
        driver: String,
        bus: String,
        deviceType: DeviceType = .builtIn,
        position: DevicePosition = .unspecified,
        videoFormats: [VideoFormatOption] = [],
        audioFormats: [AudioFormatOption] = [],
        metadata: DeviceMetadata? = nil
    ) {
        self.id = id
        self.mediaType = mediaType
        self.name = name
        self.aliases = aliases
        self.driver = driver
        self.bus = bus
        self.deviceType = deviceType
        self.position = position
        self.videoFormats = videoFormats
        self.audioFormats = audioFormats
        self.metadata = metadata
    }
}

/// The order in which devices came and went.
public enum DeviceChange: Sendable {
    /// A device is there now.
    case added(DeviceDescription)
    /// A device is gone.
    case removed(DeviceID)
}
