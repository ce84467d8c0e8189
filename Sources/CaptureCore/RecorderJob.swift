/// The job of one process of `captured-recorder`, which ends after it.
///
/// The text is the contract between `captured` and `captured-recorder`, as for `RecordingJob`; both are of one build, and
/// an unknown key is an error.
public enum RecorderJob: Hashable, Sendable {
    /// Make a file of rings. Descriptors: the file, then the rings.
    case record(RecordingJob)
    /// Read all that a program's descriptor has, at most `limit` bytes of it, into a pipe. Descriptors: the source, the
    /// pipe's writing end.
    case copy(limit: Int64)
    /// Find out what media a file holds, and write thumbnails of it into a pipe, each behind its length (four bytes, the
    /// highest first). Descriptors: the file, opened for reading alone, and the pipe's writing end.
    ///
    /// With `isWhole`, a truncated file is refused. Without it, as for an interrupted recording, a file is accepted if
    /// its content can be played.
    case examine(isWhole: Bool)

    /// The job as text.
    public var text: String {
        switch self {
        case .record(let job): job.text
        case .copy(let limit): KeyValueText.encode([("message", "copy"), ("limit", "\(limit)")])
        case .examine(let isWhole): KeyValueText.encode([("message", "examine"), ("whole", isWhole ? "1" : "0")])
        }
    }

    /// Reads a job from its text.
    ///
    /// - Throws: `CaptureError.Code.badData` naming the key that is missing, wrong or unknown.
    public init(text: String) throws(CaptureError) {
        let values = try KeyValueText.decode(text)
        switch values["message"] {
        case "copy":
            var words = MessageWords("a job to copy", values)
            let limit = try words.number("limit", in: Int64(0)...)
            try words.finish()
            self = .copy(limit: limit)
        case "examine":
            var words = MessageWords("a job to examine", values)
            let isWhole = try words.number("whole", in: 0...1) == 1
            try words.finish()
            self = .examine(isWhole: isWhole)
        default: self = .record(try RecordingJob(text: text))
        }
    }
}

/// The answer of a process that copies or examines: one answer, and its last message.
public enum ImportReport: Hashable, Sendable {
    /// The source was read to its end, and that many bytes were written.
    case copied(bytes: Int64)
    /// The file holds this; its thumbnails are in the pipe.
    case examined(ExaminedMedia)
    /// It did not work, for the reason given.
    case failed(CaptureError)

    /// What a helper may blame. Media from strangers runs in it, so nothing that it says passes for another's answer.
    private static let codes: Set<CaptureError.Code> = [
        .badData, .inputOutput, .overQuota, .invalidArgument, .internalFault,
    ]

    /// The report as text.
    public var text: String {
        switch self {
        case .copied(let bytes): KeyValueText.encode([("message", "copied"), ("bytes", "\(bytes)")])
        case .examined(let media): KeyValueText.encode([("message", "examined")] + media.pairs)
        case .failed(let error): KeyValueText.encode([("message", "failed")] + error.pairs)
        }
    }

    /// Reads a report from its text.
    ///
    /// - Throws: `CaptureError.Code.badData` when it is not of this form, or a value is out of its range.
    public init(text: String) throws(CaptureError) {
        let values = try KeyValueText.decode(text)
        var words = MessageWords("a helper's report", values)
        switch values["message"] {
        case "copied": self = .copied(bytes: try words.number("bytes", in: Int64(0)...))
        case "examined": self = .examined(try ExaminedMedia(&words))
        case "failed": self = .failed(try words.fault(among: Self.codes))
        case let word: throw CaptureError(.badData, "a helper reported '\(word ?? "")', which is unknown")
        }
        try words.finish()
    }
}
