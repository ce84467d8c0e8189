/// How one sample of one channel is stored; all little-endian.
public enum SampleFormat: String, Sendable, CaseIterable {
    /// Signed 16 bits.
    case s16 = "S16_LE"
    /// Signed 24 bits in three bytes.
    case s24Packed = "S24_3LE"
    /// Signed 32 bits.
    case s32 = "S32_LE"
    /// IEEE 754, 32 bits, -1 to 1.
    case float32 = "FLOAT_LE"

    /// Bytes of one sample.
    public var bytes: Int {
        switch self {
        case .s16: 2
        case .s24Packed: 3
        case .s32, .float32: 4
        }
    }

    /// The number by which the format is named in the ring's header.
    public var code: UInt32 {
        switch self {
        case .s16: 1
        case .s24Packed: 2
        case .s32: 3
        case .float32: 4
        }
    }

    /// The format of a code from a ring's header.
    public init?(code: UInt32) {
        guard let found = SampleFormat.allCases.first(where: { $0.code == code }) else { return nil }
        self = found
    }
}

/// The format of a microphone's interleaved samples.
public struct AudioFormat: Hashable, Sendable {
    /// How a sample is stored.
    public var sampleFormat: SampleFormat
    /// Sample frames a second.
    public var sampleRate: Int
    /// Samples in a sample frame.
    public var channels: Int
    /// Sample frames of one period: what one slot of a ring holds at most.
    public var periodFrames: Int

    /// A format of the given properties.
    public init(sampleFormat: SampleFormat, sampleRate: Int, channels: Int, periodFrames: Int) {
        self.sampleFormat = sampleFormat
        self.sampleRate = sampleRate
        self.channels = channels
        self.periodFrames = periodFrames
    }

    /// Bytes of one sample frame: a sample of each channel.
    public var bytesPerFrame: Int { sampleFormat.bytes * channels }

    /// Bytes of one period.
    public var periodBytes: Int { bytesPerFrame * periodFrames }
}

extension AudioFormat: CustomStringConvertible {
    /// As in `S16_LE 48000 Hz stereo`.
    public var description: String {
        let layout =
            switch channels {
            case 1: "mono"
            case 2: "stereo"
            default: "\(channels) channels"
            }
        return "\(sampleFormat.rawValue) \(sampleRate) Hz \(layout)"
    }
}

/// The format of a source.
public enum MediaFormat: Hashable, Sendable {
    /// Frames of a camera.
    case video(VideoFormat)
    /// Samples of a microphone.
    case audio(AudioFormat)
    /// Metadata of a camera's frames.
    case metadata(MetadataFormat)

    /// Which of them it is.
    public var mediaType: MediaType {
        switch self {
        case .video: .video
        case .audio: .audio
        case .metadata: .metadata
        }
    }

    /// Bytes that one slot of a ring must hold.
    public var slotSize: Int {
        switch self {
        case .video(let format): format.frameSize
        case .audio(let format): format.periodBytes
        case .metadata(let format): format.capacity
        }
    }
}

extension MediaFormat: CustomStringConvertible {
    /// The format in words.
    public var description: String {
        switch self {
        case .video(let format): "\(format)"
        case .audio(let format): "\(format)"
        case .metadata(let format): "\(format)"
        }
    }
}

/// The kind of an input. A device is of the kind `video` or `audio`.
public enum MediaType: String, Hashable, Sendable, CaseIterable {
    /// Frames of a camera, in any format.
    case video
    /// Frames of a camera in a depth format: how far away each pixel is, in millimetres.
    case depth
    /// Samples of a microphone.
    case audio
    /// Metadata of a camera's frames.
    case metadata

    /// Whether it is frames of a camera.
    public var isFrames: Bool { self == .video || self == .depth }
}
