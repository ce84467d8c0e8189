/// The job of a recorder process, as lines of `key=value` beside the descriptors of its file and rings.
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
    /// The kinds whose connections are disabled from the beginning: nothing of them is in the file until they are enabled.
    public var disabled: Set<MediaType>
    /// The devices that the rings are filled by, for the file to name them.
    public var origin: CaptureOrigin
    /// How long, in nanoseconds, the recorder waits from its start for a first buffer even if the duration is shorter, and how
    /// long every picture may be damaged.
    public var silenceLimit: Int64
    /// How many files it writes: more than one for a burst of photos. Those after the first come in messages of their own.
    public var fileCount: Int
    /// The format of every second file, which is made of the frame of the one before it; `nil` if each has a frame of its
    /// own.
    public var companion: String?
    /// Whether the camera is set for each picture, which waits for a `PictureOrder`.
    public var isOrdered: Bool

    /// How many frames a photo takes.
    public var pictureCount: Int { companion == nil ? fileCount : fileCount / 2 }

    /// A job for the given output, fed by the given kinds of ring.
    public init(
        output: OutputDescription,
        hasVideo: Bool,
        hasAudio: Bool,
        disabled: Set<MediaType> = [],
        origin: CaptureOrigin = CaptureOrigin(),
        silenceLimit: Int64 = 5_000_000_000,
        fileCount: Int = 1,
        companion: String? = nil,
        isOrdered: Bool = false
    ) {
        self.output = output
        self.hasVideo = hasVideo
        self.hasAudio = hasAudio
        self.disabled = disabled
        self.origin = origin
        self.silenceLimit = silenceLimit
        self.fileCount = fileCount
        self.companion = companion
        self.isOrdered = isOrdered
    }

    /// The job as text. Descriptors go beside it in this order: the file, the picture's ring, the sound's ring.
    public var text: String {
        KeyValueText.encode(
            [
                ("message", "job"), ("name", output.name), ("kind", output.kind.rawValue), ("format", output.format),
                ("video-codec", output.videoCodec), ("audio-codec", output.audioCodec),
                ("video-bit-rate", "\(output.videoBitRate)"), ("quality", "\(output.quality)"),
                ("encoder-preset", output.encoderPreset),
                ("duration", "\(output.duration)"), ("frame-count", "\(output.frameCount)"),
                ("size-limit", "\(output.sizeLimit)"), ("max-file-size", "\(output.maxFileSize)"),
                ("min-free-space", "\(output.minFreeSpace)"), ("silence-limit", "\(silenceLimit)"),
                ("segments", output.segments?.text ?? ""), ("pre-roll", "\(output.preRoll)"),
                ("metadata", output.hasMetadata ? "1" : "0"),
                ("video", hasVideo ? "1" : "0"), ("audio", hasAudio ? "1" : "0"),
                ("disabled", disabled.map(\.rawValue).sorted().joined(separator: " ")), ("camera", origin.camera),
                ("camera-maker", origin.cameraMaker), ("microphone", origin.microphone),
                ("exposure", "\(origin.exposure)"), ("gain", origin.gain.map { "\($0)" } ?? ""),
                ("files", "\(fileCount)"), ("sensitivity", "\(origin.sensitivity)"),
                ("companion", companion ?? ""), ("ordered", isOrdered ? "1" : "0"),
                ("exposure-bias", origin.exposureBias.map { "\($0)" } ?? ""),
                ("exposure-mode", origin.exposureMode?.rawValue ?? ""),
                ("white-balance", origin.whiteBalance?.rawValue ?? ""),
            ] + output.settings.pairs
        )
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
            encoderPreset: try word("encoder-preset"),
            duration: try number("duration", as: Int64.self),
            frameCount: try number("frame-count", as: Int.self),
            sizeLimit: try number("size-limit", as: Int64.self),
            maxFileSize: try number("max-file-size", as: Int64.self),
            minFreeSpace: try number("min-free-space", as: Int64.self)
        )
        output.settings = try ConnectionSettings(word)
        output.preRoll = try number("pre-roll", as: Int64.self)
        output.hasMetadata = try word("metadata") == "1"
        let rule = try word("segments")
        output.segments = SegmentRule(text: rule)
        guard rule.isEmpty || output.segments != nil else {
            throw CaptureError(.badData, "a recorder's job has '\(rule)' for 'segments', which is no rule")
        }
        hasVideo = try word("video") == "1"
        hasAudio = try word("audio") == "1"
        disabled = []
        for kind in try word("disabled").split(separator: " ") {
            guard let kind = MediaType(rawValue: String(kind)) else {
                throw CaptureError(.badData, "a recorder's job disables '\(kind)', which is no kind of media")
            }
            disabled.insert(kind)
        }
        silenceLimit = try number("silence-limit", as: Int64.self)
        fileCount = try number("files", as: Int.self)
        let second = try word("companion")
        companion = second.isEmpty ? nil : second
        guard (1...PhotoSettings.mostFiles).contains(fileCount), companion == nil || fileCount.isMultiple(of: 2) else {
            throw CaptureError(
                .badData,
                "a recorder's job has \(fileCount) files; at most \(PhotoSettings.mostFiles) are possible, and two for each "
                    + "picture with a companion"
            )
        }
        isOrdered = try word("ordered") == "1"
        let gain = try word("gain")
        let bias = try word("exposure-bias")
        origin = CaptureOrigin(
            camera: try word("camera"),
            cameraMaker: try word("camera-maker"),
            microphone: try word("microphone"),
            exposure: try number("exposure", as: Int64.self),
            gain: gain.isEmpty ? nil : try number("gain", as: Int64.self),
            sensitivity: try number("sensitivity", as: Int64.self),
            exposureMode: CameraAdjustment(rawValue: try word("exposure-mode")),
            whiteBalance: CameraAdjustment(rawValue: try word("white-balance")),
            exposureBias: Int64(bias)
        )
        guard bias.isEmpty || origin.exposureBias != nil else {
            throw CaptureError(.badData, "a recorder's job has '\(bias)' for 'exposure-bias', which is no number")
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
    /// Metadata written.
    public var items: UInt64 = 0
    /// Sample frames of silence in the place of overruns.
    public var silence: UInt64 = 0
    /// Bytes written to the file.
    public var bytes: UInt64 = 0
    /// When the file begins, in nanoseconds since 1970: its first picture or sample was captured then. 0 before that.
    public var start: Int64 = 0
    /// Length of what is in the file and survives a kill, in nanoseconds.
    public var duration: Int64 = 0
    /// The loudest sample since the last report, in thousandths of full scale.
    public var peak: Int = 0
    /// How loud each channel was over the last twentieth of a second; empty without sound.
    public var levels: [AudioLevel] = []
    /// How far the sound's clock runs from the monotonic one, in parts per million; positive when it runs fast.
    public var drift: Int = 0
    /// Frames read and waiting to be encoded.
    public var queueDepth: Int = 0
    /// The encoder of the pictures, as libavcodec names it, or `copy`.
    public var videoEncoder: String = ""
    /// The preset of an encoder that has one: how much work it does for a smaller file.
    public var encoderPreset: String = ""
    /// The encoder of the sound, as libavcodec names it, or `copy`.
    public var audioEncoder: String = ""
    /// Whether it is paused: what is captured meanwhile is left out.
    public var isPaused = false
    /// Whether the movie waits to be begun: `duration` and `bytes` are those of what is kept in memory.
    public var isWaiting = false
    /// The inputs whose connections to it are disabled, by name in alphabetic order.
    public var disabledInputs: [String] = []
    /// The pictures of a photo that are complete.
    public var pictures: [CapturedPicture] = []
    /// The limit at which it was finished by itself; `nil` for one that goes on, or ended otherwise.
    public var reachedLimit: RecordingLimit?

    /// Counters at zero.
    public init() {}

    /// The same, without what tells how loud the sound is.
    public var withoutLoudness: OutputStatistics {
        var counters = self
        (counters.peak, counters.levels) = (0, [])
        return counters
    }
}

/// A report of a recorder to the daemon.
public enum RecorderReport: Hashable, Sendable {
    /// The file is begun: the encoders are open and the readers stand at the rings' heads.
    case ready(OutputStatistics)
    /// The counters now, once or more a second, and when a photo has its frame: nothing more is needed of its camera.
    case progress(OutputStatistics)
    /// The levels of sound now, while they are watched.
    case levels([AudioLevel])
    /// A file that was handed over to a movie in segments waits for its turn, or why it cannot be written. In the order in
    /// which files came.
    case file(CaptureError?)
    /// A file of a movie in segments is begun, or complete.
    case segment(SegmentEvent)
    /// The file is complete.
    case finished(OutputStatistics)
    /// The file could not be created or continued; the part that was written is finished as far as possible.
    case failed(CaptureError, OutputStatistics)

    /// The codes that a recorder may report. It runs media from strangers, so it must not report a decision that others
    /// made.
    private static let codes: Set<CaptureError.Code> = [
        .badData, .inputOutput, .overQuota, .invalidArgument, .internalFault, .noSuchFormat, .unreachable, .timedOut,
        .busy,
    ]

    /// A longer reason is cut to this many characters.
    private static let longestReason = 500

    /// Whether another one follows within a second: nothing is lost if it is not heard.
    public var isProgress: Bool {
        switch self {
        case .progress, .levels: true
        case .ready, .file, .segment, .finished, .failed: false
        }
    }

    /// The report as text.
    public var text: String {
        switch self {
        case .ready(let counters): KeyValueText.encode([("message", "ready")] + counters.pairs)
        case .progress(let counters): KeyValueText.encode([("message", "progress")] + counters.pairs)
        case .levels(let levels): KeyValueText.encode([("message", "levels"), ("levels", levels.text)])
        case .file(let error):
            KeyValueText.encode([("message", "file")] + (error.map(Self.pairs(of:)) ?? []))
        case .segment(.began(let number)): KeyValueText.encode([("message", "segment-began"), ("number", "\(number)")])
        case .segment(.finished(let segment)): KeyValueText.encode([("message", "segment-finished")] + segment.pairs)
        case .finished(let counters): KeyValueText.encode([("message", "finished")] + counters.pairs)
        case .failed(let error, let counters):
            KeyValueText.encode([("message", "failed")] + Self.pairs(of: error) + counters.pairs)
        }
    }

    /// Reads a report from its text.
    ///
    /// - Throws: `CaptureError.Code.badData` if the text is malformed, or a value is out of range.
    public init(text: String) throws(CaptureError) {
        let values = try KeyValueText.decode(text)
        var words = MessageWords("a recorder's report", values)
        switch values["message"] {
        case "levels": self = .levels(try [AudioLevel](text: try words.word("levels")))
        case "file": self = .file(values["code"] == nil ? nil : try Self.fault(&words))
        case "segment-began": self = .segment(.began(try words.number("number", in: UInt32(1)...)))
        case "segment-finished": self = .segment(.finished(try MovieSegment(&words)))
        case "ready": self = .ready(try OutputStatistics(&words))
        case "progress": self = .progress(try OutputStatistics(&words))
        case "finished": self = .finished(try OutputStatistics(&words))
        case "failed":
            let counters = try OutputStatistics(&words)
            self = .failed(try Self.fault(&words), counters)
        case let word: throw CaptureError(.badData, "unknown report '\(word ?? "")' from a recorder")
        }
        try words.finish()
    }

    private static func pairs(of error: CaptureError) -> [(String, String)] {
        [("code", error.code.rawValue), ("errno", "\(error.errno)"), ("reason", error.message)]
    }

    private static func fault(_ words: inout MessageWords) throws(CaptureError) -> CaptureError {
        let code = CaptureError.Code(rawValue: try words.word("code"))
        let reason = try words.sentence("reason", limit: longestReason)
        let errno = try words.number("errno", in: Int32(0)...)
        return CaptureError(codes.contains(code) ? code : .internalFault, reason, errno: errno)
    }
}

/// The last report of a recorder that a signal kills.
public struct RecorderDeath: Hashable, Sendable {
    /// The signal's number.
    public let signal: Int32

    /// Reads it from a recorder's message; `nil` for any other.
    public init?(text: String) {
        // Almost all messages are others, which need not be read twice.
        guard text.utf8.starts(with: "message=died\n".utf8) else { return nil }
        guard let words = try? KeyValueText.decode(text), words["message"] == "died",
            let number = words["signal"].flatMap({ Int32($0) }), (1...64).contains(number)
        else { return nil }
        signal = number
    }
}

/// Checks the order of one recorder's reports: first `ready`, then `progress`, then one end. A failure may come at any
/// time before the end.
public struct RecorderReports: Sendable {
    private enum State {
        case beginning
        case recording
        case over
    }

    private var state = State.beginning

    /// Creates the check for a recorder that has not reported yet.
    public init() {}

    /// Reads the next report.
    ///
    /// - Throws: `CaptureError.Code.badData` if the text is not a report, or this report may not come now.
    public mutating func next(_ text: String) throws(CaptureError) -> RecorderReport {
        let report = try RecorderReport(text: text)
        switch (state, report) {
        case (.beginning, .ready), (.recording, .progress), (.recording, .levels), (.recording, .segment),
            (.recording, .file):
            state = .recording
        case (.recording, .finished), (.beginning, .failed), (.recording, .failed): state = .over
        default: throw CaptureError(.badData, "a recorder sent a report out of order")
        }
        return report
    }
}

extension OutputStatistics {
    fileprivate var pairs: [(String, String)] {
        [
            ("frames", "\(frames)"), ("samples", "\(samples)"), ("missed-frames", "\(missedFrames)"),
            ("missed-samples", "\(missedSamples)"), ("items", "\(items)"), ("silence", "\(silence)"),
            ("bytes", "\(bytes)"),
            ("start", "\(max(start, 0))"), ("duration", "\(max(duration, 0))"), ("peak", "\(peak)"),
            ("drift", "\(drift)"), ("queue", "\(queueDepth)"),
            ("video-encoder", videoEncoder), ("encoder-preset", encoderPreset), ("audio-encoder", audioEncoder),
            ("paused", isPaused ? "1" : "0"), ("waiting", isWaiting ? "1" : "0"), ("levels", levels.text),
            ("pictures", pictures.map(\.text).joined(separator: " ")), ("reached-limit", reachedLimit?.rawValue ?? ""),
        ]
    }

    /// Numbers that the daemon can add up without overflow, however long it runs.
    private static let counts: ClosedRange<UInt64> = 0...1 << 62

    fileprivate init(_ words: inout MessageWords) throws(CaptureError) {
        frames = try words.number("frames", in: Self.counts)
        samples = try words.number("samples", in: Self.counts)
        missedFrames = try words.number("missed-frames", in: Self.counts)
        missedSamples = try words.number("missed-samples", in: Self.counts)
        items = try words.number("items", in: Self.counts)
        silence = try words.number("silence", in: Self.counts)
        bytes = try words.number("bytes", in: Self.counts)
        start = try words.number("start", in: 0...Int64.max)
        duration = try words.number("duration", in: 0...1 << 62)
        peak = try words.number("peak", in: 0...Int(Int32.max))
        drift = try words.number("drift", in: Int(Int32.min)...Int(Int32.max))
        queueDepth = try words.number("queue", in: 0...1 << 20)
        videoEncoder = try words.sentence("video-encoder", limit: 64)
        encoderPreset = try words.sentence("encoder-preset", limit: 64)
        audioEncoder = try words.sentence("audio-encoder", limit: 64)
        isPaused = try words.number("paused", in: 0...1) == 1
        isWaiting = try words.number("waiting", in: 0...1) == 1
        for text in try words.word("pictures").split(separator: " ") {
            guard let picture = CapturedPicture(text: text), pictures.count < PhotoSettings.mostFiles else {
                throw CaptureError(.badData, "a recorder's report tells of its pictures in no known way")
            }
            pictures.append(picture)
        }
        let limit = try words.word("reached-limit")
        reachedLimit = RecordingLimit(rawValue: limit)
        guard limit.isEmpty || reachedLimit != nil else {
            throw CaptureError(.badData, "a recorder reported an unknown limit")
        }
        levels = try [AudioLevel](text: try words.word("levels"))
    }
}
