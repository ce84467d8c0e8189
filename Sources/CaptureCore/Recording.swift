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
    /// Whether a movie that waits had no memory for more, so that it keeps less than its pre-roll.
    public var preRollIsFull = false
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
        case .file(let error): KeyValueText.encode([("message", "file")] + (error?.pairs ?? []))
        case .segment(.began(let number)): KeyValueText.encode([("message", "segment-began"), ("number", "\(number)")])
        case .segment(.finished(let segment)): KeyValueText.encode([("message", "segment-finished")] + segment.pairs)
        case .finished(let counters): KeyValueText.encode([("message", "finished")] + counters.pairs)
        case .failed(let error, let counters):
            KeyValueText.encode([("message", "failed")] + error.pairs + counters.pairs)
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
        case "file": self = .file(values["code"] == nil ? nil : try words.fault(among: Self.codes))
        case "segment-began": self = .segment(.began(try words.number("number", in: UInt32(1)...)))
        case "segment-finished": self = .segment(.finished(try MovieSegment(&words)))
        case "ready": self = .ready(try OutputStatistics(&words))
        case "progress": self = .progress(try OutputStatistics(&words))
        case "finished": self = .finished(try OutputStatistics(&words))
        case "failed":
            let counters = try OutputStatistics(&words)
            self = .failed(try words.fault(among: Self.codes), counters)
        case let word: throw CaptureError(.badData, "unknown report '\(word ?? "")' from a recorder")
        }
        try words.finish()
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
            ("paused", isPaused ? "1" : "0"), ("waiting", isWaiting ? "1" : "0"),
            ("pre-roll-full", preRollIsFull ? "1" : "0"), ("levels", levels.text),
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
        preRollIsFull = try words.number("pre-roll-full", in: 0...1) == 1
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
