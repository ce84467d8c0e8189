/// A session as its program describes it: inputs, outputs, and which input feeds which output.
public struct SessionDescription: Hashable, Sendable {
    /// How many inputs, and how many outputs, a session may have.
    public static let mostParts = 16

    /// The devices.
    public var inputs: [InputDescription]
    /// The outputs that are made from the inputs.
    public var outputs: [OutputDescription]
    /// Which input feeds which output.
    public var connections: [ConnectionDescription]
    /// Whether the session ends when its client leaves the bus.
    public var isAttached: Bool
    /// The cookie of the agent's question that the session takes something for; `nil` for any other session.
    public var question: String?

    /// A session of the given parts.
    public init(
        inputs: [InputDescription],
        outputs: [OutputDescription],
        connections: [ConnectionDescription],
        isAttached: Bool = false
    ) {
        self.inputs = inputs
        self.outputs = outputs
        self.connections = connections
        self.isAttached = isAttached
    }

    /// The parts that a connection connects.
    ///
    /// - Throws: `CaptureError.Code.invalidArgument` if the session has no such connection.
    public func parts(
        of connection: ConnectionDescription
    ) throws(CaptureError) -> (input: InputDescription, output: OutputDescription) {
        guard connections.contains(connection),
            let input = inputs.first(where: { $0.name == connection.input }),
            let output = outputs.first(where: { $0.name == connection.output })
        else {
            let known = connections.map { "'\($0.input)' to '\($0.output)'" }.joined(separator: ", ")
            throw CaptureError(
                .invalidArgument,
                "there is no connection from '\(connection.input)' to '\(connection.output)'; the session has: \(known)"
            )
        }
        return (input, output)
    }

    /// The kind of media of a connection that can be disabled.
    ///
    /// - Throws: `CaptureError.Code.invalidArgument` if the session has no such connection, or it leads to a photo.
    public func kindToDisable(of connection: ConnectionDescription) throws(CaptureError) -> MediaType {
        let (input, output) = try parts(of: connection)
        guard output.kind != .photo, output.kind != .photos else {
            throw CaptureError(
                .invalidArgument,
                "the output '\(output.name)' is \(output.kind.phrase), whose connections cannot be disabled; remove the "
                    + "output"
            )
        }
        return input.mediaType
    }
}

/// A device in a session.
public struct InputDescription: Hashable, Sendable {
    /// The name by which connections refer to it, unique among the session's inputs.
    public var name: String
    /// Picture, sound, or the metadata of a camera, which is an input of the same session, too.
    public var mediaType: MediaType
    /// A device's id or one of its aliases; `nil` for the first of its kind. Metadata: what the camera's input has.
    public var device: String?
    /// The request to a camera.
    public var video: VideoFormatRequest
    /// The request to a microphone.
    public var audio: AudioFormatRequest

    /// An input of the given properties.
    public init(
        name: String,
        mediaType: MediaType,
        device: String? = nil,
        video: VideoFormatRequest = Preset.high.request,
        audio: AudioFormatRequest = AudioFormatRequest()
    ) {
        self.name = name
        self.mediaType = mediaType
        self.device = device
        self.video = video
        self.audio = audio
    }
}

/// An input that feeds an output.
public struct ConnectionDescription: Hashable, Sendable {
    /// An input's name.
    public var input: String
    /// An output's name.
    public var output: String

    /// A connection from the input of one name to the output of another.
    public init(input: String, output: String) {
        self.input = input
        self.output = output
    }
}

/// The kind of an output, such as a movie or a photo.
public enum OutputKind: String, Hashable, Sendable, CaseIterable {
    /// A movie file: at most one picture and one sound input.
    case movie
    /// A sound file.
    case sound
    /// One picture, after which the output is done.
    case photo
    /// Pictures whenever the program asks for one, each with a recorder of its own.
    case photos
    /// Frames into a pipe or socket.
    case frames
    /// Samples into a pipe or socket.
    case samples
    /// The ring itself, mapped by the client; no recorder.
    case buffer

    /// Whether every part of the output is useful by itself, so that its reader may leave at any time.
    public var isStream: Bool { self == .frames || self == .samples }

    /// Whether the output has a recorder as long as it is not done.
    public var hasRecorder: Bool { self != .buffer && self != .photos }

    /// As it follows "the output 'x' is" in a message.
    package var phrase: String { rawValue.hasSuffix("s") ? "for \(rawValue)" : "a \(rawValue)" }
}

/// The destination of an output that is saved into the user's media library.
public struct LibraryDestination: Hashable, Sendable {
    /// The name that the asset gets; empty for one that says what it is and when it was made.
    public var name: String
    /// The name of the album that it joins, which is created if needed; `nil` for no album.
    public var album: String?

    /// Into the library, under a name and into an album if they are given.
    public init(name: String = "", album: String? = nil) {
        self.name = name
        self.album = album
    }
}

/// An output of a session. Every kind but `buffer` and `photos` writes to a descriptor that the client passes beside it,
/// unless it is saved into the media library.
public struct OutputDescription: Hashable, Sendable {
    /// The name by which connections refer to it, unique among the session's outputs.
    public var name: String
    /// The kind of the output.
    public var kind: OutputKind
    /// The container: movie `mkv`, `mp4`, `mov`; sound `wav`, `flac`, `opus`, `m4a`; photo `jpeg`, `png`, `dng`, `tiff`; frames
    /// `y4m`, `raw`, `mjpeg`; samples `wav`, `raw`; buffer and photos empty.
    public var format: String
    /// `h264`, `mjpeg` or `copy`; `auto` passes compressed pictures through and encodes raw ones as H.264.
    public var videoCodec: String
    /// `aac`, `opus`, `flac` or `pcm`; `auto` is what suits the container.
    public var audioCodec: String
    /// Bits a second for pictures; 0 leaves it to the encoder's quality.
    public var videoBitRate: Int
    /// JPEG's quality, 1 to 100. Without a bit rate also H.264's: x264's CRF is 49.6 - 0.3 * quality.
    public var quality: Int
    /// One of `encoderPresets`: how much work an H.264 encoder may have for a smaller file. `auto` is what this machine is
    /// fast enough for.
    public var encoderPreset: String
    /// Nanoseconds after which the output is finished by itself; 0 for no end.
    public var duration: Int64
    /// Frames after which the output is finished by itself; 0 for no end.
    public var frameCount: Int
    /// That a movie, sound or photo is saved into the media library, and how; `nil` for a file of the client's.
    public var library: LibraryDestination?
    /// Bytes that the client's file may have, as its own limit for files has it (`ulimit -f`); 0 for no limit.
    public var sizeLimit: Int64
    /// Bytes that the file may have when it is finished by itself, or a stream may write; 0 for no end.
    public var maxFileSize: Int64
    /// Bytes that stay free on the file's disk: the output is finished by itself before there are fewer. 0 for no such end.
    public var minFreeSpace: Int64
    /// When a movie goes on in another file of the client's; `nil` for one file.
    public var segments: SegmentRule?
    /// Nanoseconds that a movie keeps in memory until its program has it begin, with them; 0 for one that begins at once.
    public var preRoll: Int64
    /// Whether a movie has a track of `TimedMetadata`.
    public var hasMetadata: Bool
    /// Nanoseconds after which a movie's newest part is brought into the file: what a crash may cost.
    public var fragmentInterval: Int64
    /// Texts about the whole movie or sound, for its file.
    public var tags: [FileTag: String]

    /// The smallest greatest size: less has no room for a recording and what its format needs.
    public static let leastMaxFileSize: Int64 = 65_536
    /// How pictures and sound are changed on their way into it.
    public var settings = ConnectionSettings()

    /// An output of the given properties.
    public init(
        name: String,
        kind: OutputKind,
        format: String,
        videoCodec: String = "auto",
        audioCodec: String = "auto",
        videoBitRate: Int = 0,
        quality: Int = 90,
        encoderPreset: String = "auto",
        duration: Int64 = 0,
        frameCount: Int = 0,
        library: LibraryDestination? = nil,
        sizeLimit: Int64 = 0,
        maxFileSize: Int64 = 0,
        minFreeSpace: Int64 = 0,
        segments: SegmentRule? = nil,
        preRoll: Int64 = 0,
        hasMetadata: Bool = false,
        fragmentInterval: Int64 = OutputDescription.usualFragmentInterval,
        tags: [FileTag: String] = [:]
    ) {
        self.name = name
        self.kind = kind
        self.format = format
        self.videoCodec = videoCodec
        self.audioCodec = audioCodec
        self.videoBitRate = videoBitRate
        self.quality = quality
        self.encoderPreset = encoderPreset
        self.duration = duration
        self.frameCount = frameCount
        self.library = library
        self.sizeLimit = sizeLimit
        self.maxFileSize = maxFileSize
        self.minFreeSpace = minFreeSpace
        self.segments = segments
        self.preRoll = preRoll
        self.hasMetadata = hasMetadata
        self.fragmentInterval = fragmentInterval
        self.tags = tags
    }

    /// Whether a client passes a file for it.
    public var takesFile: Bool { kind.hasRecorder && library == nil }

    /// The presets that can be asked for: `auto`, then x264's, the fastest and largest first.
    public static let encoderPresets = [
        "auto", "ultrafast", "superfast", "veryfast", "faster", "fast", "medium", "slow",
    ]

    /// The next faster preset; `nil` if `preset` is the fastest, `auto`, or unknown.
    public static func encoderPreset(fasterThan preset: String) -> String? {
        let presets = encoderPresets.dropFirst()
        guard let place = presets.firstIndex(of: preset), place > presets.startIndex else { return nil }
        return presets[place - 1]
    }

    /// The containers of each kind, the default first.
    public static func formats(of kind: OutputKind) -> [String] {
        switch kind {
        case .movie: ["mkv", "mp4", "mov"]
        case .sound: ["wav", "flac", "opus", "m4a"]
        case .photo: ["jpeg", "png", "dng", "tiff"]
        case .frames: ["y4m", "raw", "mjpeg"]
        case .samples: ["wav", "raw"]
        case .buffer, .photos: [""]
        }
    }
}

/// Where a session stands.
public enum SessionState: String, Hashable, Sendable, CaseIterable {
    /// Described, never started.
    case configured
    /// Waiting for a person's answer.
    case authorizing
    /// Opening devices and recorders.
    case starting
    /// Streaming.
    case running
    /// Streaming stopped from outside for a while, and the session goes on by itself.
    ///
    /// Either a service is switched off or the user is away. Then files are finished, and buffers resume in state
    /// `running` when that is over. Or the daemon stopped all devices, because one of its own parts or the message bus
    /// did not answer for two seconds; the reason is `CaptureError.Code.timedOut`. Or the input of a device has no signal;
    /// the reason is `CaptureError.Code.noSignal`. In both cases nothing ends: files go on, too, with a gap.
    case suspended
    /// Ended from outside: the device went away, or what would be a suspension found nothing but files. They are finished.
    case interrupted
    /// Ended as asked; its files are finished.
    case stopped
    /// Ended by a fault or a refusal.
    case failed

    /// Whether nothing more will happen.
    public var isFinal: Bool {
        self == .stopped || self == .failed || self == .interrupted
    }
}

/// The counters of a session.
public struct SessionStatistics: Hashable, Sendable {
    /// Nanoseconds since streaming began.
    public var elapsed: Int64 = 0
    /// Each input's counters, by its name.
    public var inputs: [String: InputStatistics] = [:]
    /// Each output's counters, by its name.
    public var outputs: [String: OutputStatistics] = [:]

    /// Counters at zero.
    public init() {}

    /// The same, without what tells how loud sound is.
    public var withoutLoudness: SessionStatistics {
        var counters = self
        counters.outputs = outputs.mapValues(\.withoutLoudness)
        return counters
    }
}

/// The counters of one input.
public struct InputStatistics: Hashable, Sendable {
    /// The device that was taken.
    public var device: String = ""
    /// The delivered format, in words.
    public var format: String = ""
    /// Frames or periods published since the session began.
    public var published: UInt64 = 0
    /// Losses by cause, by the words of `DropCause`.
    public var drops: [String: UInt64] = [:]
    /// From the stamp of the latest buffer to its publication, in nanoseconds.
    public var latency: Int64 = 0
    /// The slots published and not yet written again.
    public var queueDepth: Int = 0
    /// Bytes that the processor copied on the device's thread since the session began. 0 if the driver writes into the
    /// ring by itself; `nil` if they are not counted.
    public var copiedBytes: UInt64?

    /// Counters at zero.
    public init() {}

    /// These counters on top of those from before an interruption.
    public func following(_ before: InputStatistics) -> InputStatistics {
        var sum = self
        sum.published += before.published
        sum.drops.merge(before.drops, uniquingKeysWith: +)
        sum.copiedBytes = copiedBytes.map { $0 + (before.copiedBytes ?? 0) }
        return sum
    }
}
