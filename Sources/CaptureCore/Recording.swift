/// What a recorder process is told to make, as lines of `key=value` beside the descriptors of its file and rings.
///
/// The text is the contract between `captured` and `captured-recorder`; both are of one build, and an unknown key is an
/// error.
public struct RecordingJob: Hashable, Sendable {
    /// What to make of the rings.
    public var output: OutputDescription
    /// Whether a ring with pictures comes along.
    public var hasVideo: Bool
    /// Whether a ring with sound comes along.
    public var hasAudio: Bool

    /// A job for the given output, fed by the given kinds of ring.
    public init(output: OutputDescription, hasVideo: Bool, hasAudio: Bool) {
        self.output = output
        self.hasVideo = hasVideo
        self.hasAudio = hasAudio
    }

    /// The job as text. Descriptors go beside it in this order: the file, the picture's ring, the sound's ring.
    public var text: String {
        KeyValueText.encode([
            ("message", "job"), ("name", output.name), ("kind", output.kind.rawValue), ("format", output.format),
            ("video-codec", output.videoCodec), ("audio-codec", output.audioCodec),
            ("video-bit-rate", "\(output.videoBitRate)"), ("quality", "\(output.quality)"),
            ("duration", "\(output.duration)"), ("frame-count", "\(output.frameCount)"),
            ("video", hasVideo ? "1" : "0"), ("audio", hasAudio ? "1" : "0"),
        ])
    }

    /// Reads a job from its text.
    ///
    /// - Throws: `CaptureError.Code.badData` naming the key that is missing or wrong.
    public init(text: String) throws(CaptureError) {
        let values = try KeyValueText.decode(text)
        func word(_ key: String) throws(CaptureError) -> String {
            guard let value = values[key] else { throw CaptureError(.badData, "a recorder's job lacks '\(key)'") }
            return value
        }
        func number<T: FixedWidthInteger>(_ key: String, as: T.Type) throws(CaptureError) -> T {
            let value = try word(key)
            guard let number = T(value), number >= 0 else {
                throw CaptureError(.badData, "a recorder's job has '\(value)' for '\(key)', which is no number")
            }
            return number
        }
        guard try word("message") == "job", let kind = OutputKind(rawValue: try word("kind")) else {
            throw CaptureError(.badData, "a recorder's job is of an unknown kind")
        }
        output = OutputDescription(
            name: try word("name"),
            kind: kind,
            format: try word("format"),
            videoCodec: try word("video-codec"),
            audioCodec: try word("audio-codec"),
            videoBitRate: try number("video-bit-rate", as: Int.self),
            quality: try number("quality", as: Int.self),
            duration: try number("duration", as: Int64.self),
            frameCount: try number("frame-count", as: Int.self)
        )
        hasVideo = try word("video") == "1"
        hasAudio = try word("audio") == "1"
    }
}

/// What the daemon tells a running recorder.
public enum RecorderCommand: Hashable, Sendable {
    /// Finish the file at what was published until then, whenever this is heard.
    case stop(at: Timestamp)
    /// Go on with the picture's ring that comes along as a descriptor.
    case videoMoved
    /// Go on with the sound's ring that comes along as a descriptor.
    case audioMoved

    /// The command as text.
    public var text: String {
        switch self {
        case .stop(let time): KeyValueText.encode([("message", "stop"), ("at", "\(time.nanoseconds)")])
        case .videoMoved: KeyValueText.encode([("message", "video-moved")])
        case .audioMoved: KeyValueText.encode([("message", "audio-moved")])
        }
    }

    /// Reads a command from its text.
    ///
    /// - Throws: `CaptureError.Code.badData` for an unknown command, and a stop without its time.
    public init(text: String) throws(CaptureError) {
        let words = try KeyValueText.decode(text)
        switch words["message"] ?? "" {
        case "stop":
            guard let time = words["at"].flatMap({ Int64($0) }) else {
                throw CaptureError(.badData, "a recorder was told to stop, and not at what time")
            }
            self = .stop(at: Timestamp(nanoseconds: time))
        case "video-moved": self = .videoMoved
        case "audio-moved": self = .audioMoved
        case let word: throw CaptureError(.badData, "a recorder was told '\(word)', which it does not know")
        }
    }
}

/// The counters of one output, as its recorder reports them.
public struct OutputStatistics: Hashable, Sendable {
    /// Frames written.
    public var frames: UInt64 = 0
    /// Sample frames written.
    public var samples: UInt64 = 0
    /// Frames that the recorder missed because it was too slow.
    public var missedFrames: UInt64 = 0
    /// Sample frames that the recorder missed because it was too slow, filled with silence.
    public var missedSamples: UInt64 = 0
    /// Sample frames of silence in the place of overruns.
    public var silence: UInt64 = 0
    /// Bytes written to the file.
    public var bytes: UInt64 = 0
    /// Length of what is written, in nanoseconds.
    public var duration: Int64 = 0
    /// The loudest sample since the last report, in thousandths of full scale.
    public var peak: Int = 0
    /// How far the sound's clock runs from the monotonic one, in parts per million; positive when it runs fast.
    public var drift: Int = 0
    /// Frames read and waiting to be encoded.
    public var queueDepth: Int = 0
    /// The encoder of the pictures, as libavcodec names it, or `copy`.
    public var videoEncoder: String = ""
    /// The encoder of the sound, as libavcodec names it, or `copy`.
    public var audioEncoder: String = ""

    /// Counters at zero.
    public init() {}
}

/// What a recorder tells the daemon.
public enum RecorderReport: Hashable, Sendable {
    /// The file is begun: the encoders are open and the readers stand at the rings' heads.
    case ready(OutputStatistics)
    /// The counters now, once or more a second.
    case progress(OutputStatistics)
    /// The file is complete.
    case finished(OutputStatistics)
    /// The file could not be made or not be gone on with; what was written is finished as far as it goes.
    case failed(CaptureError, OutputStatistics)

    /// The report as text.
    public var text: String {
        switch self {
        case .ready(let counters): KeyValueText.encode([("message", "ready")] + counters.pairs)
        case .progress(let counters): KeyValueText.encode([("message", "progress")] + counters.pairs)
        case .finished(let counters): KeyValueText.encode([("message", "finished")] + counters.pairs)
        case .failed(let error, let counters):
            KeyValueText.encode(
                [
                    ("message", "failed"), ("code", error.code.rawValue), ("errno", "\(error.errno)"),
                    ("reason", error.message),
                ] + counters.pairs
            )
        }
    }

    /// Reads a report from its text.
    ///
    /// - Throws: `CaptureError.Code.badData` when it is not of this form.
    public init(text: String) throws(CaptureError) {
        let values = try KeyValueText.decode(text)
        let counters = try OutputStatistics(values)
        switch values["message"] {
        case "ready": self = .ready(counters)
        case "progress": self = .progress(counters)
        case "finished": self = .finished(counters)
        case "failed":
            let code = CaptureError.Code(rawValue: values["code"] ?? CaptureError.Code.internalFault.rawValue)
            let reason = values["reason"] ?? "the recorder failed"
            self = .failed(CaptureError(code, reason, errno: Int32(values["errno"] ?? "") ?? 0), counters)
        default: throw CaptureError(.badData, "a recorder reported '\(values["message"] ?? "")', which is unknown")
        }
    }
}

extension OutputStatistics {
    fileprivate var pairs: [(String, String)] {
        [
            ("frames", "\(frames)"), ("samples", "\(samples)"), ("missed-frames", "\(missedFrames)"),
            ("missed-samples", "\(missedSamples)"), ("silence", "\(silence)"), ("bytes", "\(bytes)"),
            ("duration", "\(duration)"), ("peak", "\(peak)"), ("drift", "\(drift)"), ("queue", "\(queueDepth)"),
            ("video-encoder", videoEncoder), ("audio-encoder", audioEncoder),
        ]
    }

    fileprivate init(_ values: [String: String]) throws(CaptureError) {
        func number<T: FixedWidthInteger>(_ key: String, _: T.Type = T.self) throws(CaptureError) -> T {
            guard let text = values[key], let number = T(text) else {
                throw CaptureError(.badData, "a recorder's report lacks a number for '\(key)'")
            }
            return number
        }
        frames = try number("frames")
        samples = try number("samples")
        missedFrames = try number("missed-frames")
        missedSamples = try number("missed-samples")
        silence = try number("silence")
        bytes = try number("bytes")
        duration = try number("duration")
        peak = try number("peak")
        drift = try number("drift")
        queueDepth = try number("queue")
        videoEncoder = values["video-encoder"] ?? ""
        audioEncoder = values["audio-encoder"] ?? ""
    }
}
