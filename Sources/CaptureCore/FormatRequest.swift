/// A named wish for size and rate, as AVFoundation's session presets; the device's nearest format is taken.
public enum Preset: String, Sendable, CaseIterable {
    /// For a slow link: about 320x240 at 15 frames a second.
    case low
    /// For a call: about 640x480 at 30 frames a second.
    case medium
    /// For recording: about 1280x720 at 30 frames a second, the default.
    case high
    /// The camera's largest size, at any rate. If the camera scales to any size, at most 3840x2160.
    case photo
    /// 320x240.
    case qvga320x240
    /// 640x480.
    case vga640x480
    /// 1280x720.
    case hd1280x720
    /// 1920x1080.
    case hd1920x1080
    /// 3840x2160.
    case hd4K3840x2160

    /// The request to a camera.
    public var request: VideoFormatRequest {
        switch self {
        case .low: VideoFormatRequest(width: 320, height: 240, framesPerSecond: 15)
        case .medium: VideoFormatRequest(width: 640, height: 480, framesPerSecond: 30)
        case .high: VideoFormatRequest(width: 1280, height: 720, framesPerSecond: 30)
        case .photo: VideoFormatRequest(width: 1 << 20, height: 1 << 20)
        case .qvga320x240: VideoFormatRequest(width: 320, height: 240)
        case .vga640x480: VideoFormatRequest(width: 640, height: 480)
        case .hd1280x720: VideoFormatRequest(width: 1280, height: 720)
        case .hd1920x1080: VideoFormatRequest(width: 1920, height: 1080)
        case .hd4K3840x2160: VideoFormatRequest(width: 3840, height: 2160)
        }
    }
}

/// A request to a camera; the negotiation chooses every value that is `nil`.
public struct VideoFormatRequest: Hashable, Sendable {
    /// How pixels are stored.
    public var pixelFormat: PixelFormat?
    /// Pixels in a row.
    public var width: Int?
    /// Rows of a frame.
    public var height: Int?
    /// Frames a second.
    public var framesPerSecond: Double?
    /// Whether exactly this must be given, or an error; else the nearest is taken.
    public var isExact: Bool

    /// A wish for the given properties.
    public init(
        pixelFormat: PixelFormat? = nil,
        width: Int? = nil,
        height: Int? = nil,
        framesPerSecond: Double? = nil,
        isExact: Bool = false
    ) {
        self.pixelFormat = pixelFormat
        self.width = width
        self.height = height
        self.framesPerSecond = framesPerSecond
        self.isExact = isExact
    }
}

/// A request to a microphone. The negotiation chooses every value that is `nil`; it prefers 48 kHz, 16 bits, stereo.
public struct AudioFormatRequest: Hashable, Sendable {
    /// How a sample is stored.
    public var sampleFormat: SampleFormat?
    /// Sample frames a second.
    public var sampleRate: Int?
    /// Samples in a sample frame.
    public var channels: Int?
    /// Whether exactly this must be given, or an error; else the nearest is taken.
    public var isExact: Bool

    /// A wish for the given properties.
    public init(
        sampleFormat: SampleFormat? = nil,
        sampleRate: Int? = nil,
        channels: Int? = nil,
        isExact: Bool = false
    ) {
        self.sampleFormat = sampleFormat
        self.sampleRate = sampleRate
        self.channels = channels
        self.isExact = isExact
    }
}
