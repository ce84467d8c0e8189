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
    /// Bytes of encoded pictures, and of sound, that a pre-roll keeps at most: it is shorter where they are more.
    public var preRollBytes: Int64
    /// How many files it writes: more than one for a burst of photos. Those after the first come in messages of their own.
    public var fileCount: Int
    /// The format of a second picture of each frame, which has every second file or is inside each. `nil` for one picture.
    public var companion: String?
    /// Whether the companion is inside its picture's file, and has none of its own.
    public var embedsCompanion: Bool
    /// Whether the camera is set for each picture, which waits for a `PictureOrder`.
    public var isOrdered: Bool

    /// How many frames a photo takes.
    public var pictureCount: Int { companion == nil || embedsCompanion ? fileCount : fileCount / 2 }

    /// Bytes that a pre-roll keeps unless the administrator says something else.
    public static let usualPreRollBytes: Int64 = 64 << 20

    /// A job for the given output, fed by the given kinds of ring.
    public init(
        output: OutputDescription,
        hasVideo: Bool,
        hasAudio: Bool,
        disabled: Set<MediaType> = [],
        origin: CaptureOrigin = CaptureOrigin(),
        silenceLimit: Int64 = 5_000_000_000,
        preRollBytes: Int64 = RecordingJob.usualPreRollBytes,
        fileCount: Int = 1,
        companion: String? = nil,
        embedsCompanion: Bool = false,
        isOrdered: Bool = false
    ) {
        self.output = output
        self.hasVideo = hasVideo
        self.hasAudio = hasAudio
        self.disabled = disabled
        self.origin = origin
        self.silenceLimit = silenceLimit
        self.preRollBytes = preRollBytes
        self.fileCount = fileCount
        self.companion = companion
        self.embedsCompanion = embedsCompanion
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
                ("pre-roll-bytes", "\(preRollBytes)"),
                ("metadata", output.hasMetadata ? "1" : "0"), ("fragment-interval", "\(output.fragmentInterval)"),
                ("video", hasVideo ? "1" : "0"), ("audio", hasAudio ? "1" : "0"),
                ("disabled", disabled.map(\.rawValue).sorted().joined(separator: " ")), ("camera", origin.camera),
                ("camera-maker", origin.cameraMaker), ("microphone", origin.microphone),
                ("exposure", "\(origin.exposure)"), ("gain", origin.gain.map { "\($0)" } ?? ""),
                ("files", "\(fileCount)"), ("sensitivity", "\(origin.sensitivity)"),
                ("companion", companion ?? ""), ("embedded", embedsCompanion ? "1" : "0"),
                ("ordered", isOrdered ? "1" : "0"),
                ("exposure-bias", origin.exposureBias.map { "\($0)" } ?? ""),
                ("exposure-mode", origin.exposureMode?.rawValue ?? ""),
                ("white-balance", origin.whiteBalance?.rawValue ?? ""),
            ] + output.settings.pairs + output.tags.map { ("tag-\($0.key.rawValue)", $0.value) }.sorted { $0.0 < $1.0 }
        )
    }

    /// Reads a job from its text.
    ///
    /// - Throws: `CaptureError.Code.badData` naming the key that is missing or wrong.
    public init(text: String) throws(CaptureError) {
        let values = try KeyValueText.decode(text)
        var words = MessageWords("a recorder's job", values)
        guard values["message"] == "job", let kind = OutputKind(rawValue: try words.word("kind")) else {
            throw CaptureError(.badData, "a recorder's job is of an unknown kind")
        }
        output = OutputDescription(
            name: try words.word("name"),
            kind: kind,
            format: try words.word("format"),
            videoCodec: try words.word("video-codec"),
            audioCodec: try words.word("audio-codec"),
            videoBitRate: try words.number("video-bit-rate", in: 0...),
            quality: try words.number("quality", in: 0...),
            encoderPreset: try words.word("encoder-preset"),
            duration: try words.number("duration", in: 0...),
            frameCount: try words.number("frame-count", in: 0...),
            sizeLimit: try words.number("size-limit", in: 0...),
            maxFileSize: try words.number("max-file-size", in: 0...),
            minFreeSpace: try words.number("min-free-space", in: 0...)
        )
        output.settings = try ConnectionSettings(&words)
        output.preRoll = try words.number("pre-roll", in: 0...)
        output.hasMetadata = try words.word("metadata") == "1"
        output.fragmentInterval = try words.number("fragment-interval", in: 0...)
        for tag in FileTag.allCases { output.tags[tag] = values["tag-\(tag.rawValue)"] }
        let rule = try words.word("segments")
        output.segments = SegmentRule(text: rule)
        guard rule.isEmpty || output.segments != nil else {
            throw CaptureError(.badData, "a recorder's job has '\(rule)' for 'segments', which is no rule")
        }
        hasVideo = try words.word("video") == "1"
        hasAudio = try words.word("audio") == "1"
        disabled = []
        for kind in try words.word("disabled").split(separator: " ") {
            guard let kind = MediaType(rawValue: String(kind)) else {
                throw CaptureError(.badData, "a recorder's job disables '\(kind)', which is no kind of media")
            }
            disabled.insert(kind)
        }
        silenceLimit = try words.number("silence-limit", in: 0...)
        preRollBytes = try words.number("pre-roll-bytes", in: 0...)
        fileCount = try words.number("files", in: 0...)
        let second = try words.word("companion")
        companion = second.isEmpty ? nil : second
        embedsCompanion = try words.word("embedded") == "1"
        guard (1...PhotoSettings.mostFiles).contains(fileCount),
            companion == nil || embedsCompanion || fileCount.isMultiple(of: 2)
        else {
            throw CaptureError(
                .badData,
                "a recorder's job has \(fileCount) files; at most \(PhotoSettings.mostFiles) are possible, and two for each "
                    + "picture with a companion of its own file"
            )
        }
        isOrdered = try words.word("ordered") == "1"
        origin = CaptureOrigin(
            camera: try words.word("camera"),
            cameraMaker: try words.word("camera-maker"),
            microphone: try words.word("microphone"),
            exposure: try words.number("exposure", in: 0...),
            gain: try words.numberIfAny("gain", in: 0...),
            sensitivity: try words.number("sensitivity", in: 0...),
            exposureMode: CameraAdjustment(rawValue: try words.word("exposure-mode")),
            whiteBalance: CameraAdjustment(rawValue: try words.word("white-balance")),
            exposureBias: try words.numberIfAny("exposure-bias", in: Int64.min...)
        )
    }
}
