/// A driver's flags of a buffer, as the words of a published slot.
public struct BufferFlags: OptionSet, Hashable, Sendable {
    /// The bits, as in the ring's slot descriptor.
    public var rawValue: UInt32

    /// Flags of the given bits.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// Decodable by itself: every raw or JPEG frame, an IDR of H.264.
    public static let keyframe = BufferFlags(rawValue: 1 << 0)
    /// Stamped by CLOCK_MONOTONIC (`V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC`, or ALSA's monotonic type).
    public static let monotonic = BufferFlags(rawValue: 1 << 1)
    /// Stamped by nobody or by an unknown clock: the timestamp is the time of arrival on CLOCK_MONOTONIC.
    public static let stampedOnArrival = BufferFlags(rawValue: 1 << 2)
    /// The stamp is of the start of exposure (`V4L2_BUF_FLAG_TSTAMP_SRC_SOE`), else of the end of the frame.
    public static let startOfExposure = BufferFlags(rawValue: 1 << 3)
    /// Samples that were never captured: silence in the place of an overrun's loss.
    public static let silence = BufferFlags(rawValue: 1 << 4)
    /// Something before this buffer was lost.
    public static let discontinuity = BufferFlags(rawValue: 1 << 5)
}

/// A published buffer, without its bytes.
public struct BufferInfo: Hashable, Sendable {
    /// When it was captured.
    public var timestamp: Timestamp
    /// The device's own count of frames or periods, losses included.
    public var deviceSequence: UInt64
    /// Sound: sample frames since the start of the stream, silence included, to the first of this buffer. Metadata: one
    /// more than the `deviceSequence` of the frame that it belongs to; 0 if nobody knows. Video: 0.
    public var position: UInt64
    /// Bytes in use of each memory plane, one to four.
    public var bytesUsed: (Int, Int, Int, Int)
    /// The driver's flags.
    public var flags: BufferFlags
    /// Frames lost directly before this one.
    public var lostBefore: UInt32

    /// A buffer of the given properties.
    public init(
        timestamp: Timestamp,
        deviceSequence: UInt64,
        position: UInt64 = 0,
        bytesUsed: (Int, Int, Int, Int),
        flags: BufferFlags,
        lostBefore: UInt32 = 0
    ) {
        self.timestamp = timestamp
        self.deviceSequence = deviceSequence
        self.position = position
        self.bytesUsed = bytesUsed
        self.flags = flags
        self.lostBefore = lostBefore
    }

    /// Whether both say the same.
    public static func == (left: BufferInfo, right: BufferInfo) -> Bool {
        left.timestamp == right.timestamp && left.deviceSequence == right.deviceSequence
            && left.position == right.position && left.bytesUsed == right.bytesUsed && left.flags == right.flags
            && left.lostBefore == right.lostBefore
    }

    /// Takes part in hashing.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(timestamp)
        hasher.combine(deviceSequence)
        hasher.combine(position)
    }
}

/// Why a frame or a stretch of sound was lost. The raw value is its place among the counters of the ring's header.
public enum DropCause: Int, Sendable, CaseIterable {
    /// The device's sequence jumped: the driver or the bus lost it.
    case sequenceGap = 0
    /// The driver flagged the buffer as broken (`V4L2_BUF_FLAG_ERROR`), or a compressed frame was not whole.
    case deviceError = 1
    /// No slot was free for the device.
    case noSlot = 2
    /// Sound overran (xrun); counted in periods, filled with silence.
    case overrun = 3
    /// The source was moved to a new ring because a reader's consent was withdrawn.
    case revocation = 4
    /// The daemon stopped the device, because a part of the daemon or the message bus did not answer.
    case paused = 5
    /// The device's input had no signal.
    case noSignal = 6

    /// The word by which statistics name it.
    public var name: String {
        switch self {
        case .sequenceGap: "sequence-gap"
        case .deviceError: "device-error"
        case .noSlot: "no-slot"
        case .overrun: "overrun"
        case .revocation: "revocation"
        case .paused: "paused"
        case .noSignal: "no-signal"
        }
    }
}
