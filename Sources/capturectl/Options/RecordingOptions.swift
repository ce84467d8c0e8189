public import ArgumentParser
public import CaptureKit

/// The options that `record` and `start` share.
struct RecordingOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The camera, as 'devices' lists it, or none.", valueName: "id"),
        completion: .cameras(orNone: true)
    )
    var camera: String?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The microphone, as 'devices' lists it, or none.", valueName: "id"),
        completion: .microphones(orNone: true)
    )
    var microphone: String?

    @Option(name: .shortAndLong, help: .preset, completion: .presets)
    var preset: Preset?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "\(OutputDescription.choice(of: .movie)); for sound alone, \(OutputDescription.choice(of: .sound)). Needed for a file without a known extension.",
            valueName: "format"
        ),
        completion: .list(OutputDescription.formats(of: .movie) + OutputDescription.formats(of: .sound))
    )
    var format: String?

    @Option(
        name: .shortAndLong,
        parsing: .unconditional,
        help: ArgumentHelp("End the recording after this time, as in 90, 10s or 1m30s.", valueName: "time"),
        transform: NumberOptions.seconds
    )
    var duration: Double?

    @OptionGroup var limits: LimitOptions

    @OptionGroup var writing: FileOptions

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Wait, and keep the newest pictures and sound in memory, as in 10s. Press Enter or call 'capturectl begin' to begin the movie with them.",
            valueName: "time"
        ),
        transform: NumberOptions.seconds
    )
    var preRoll: Double?

    @Flag(help: "Give the movie a track for what 'capturectl note' tells.")
    var metadata = false

    @Option(
        help: ArgumentHelp("auto, h264, mjpeg or copy.", valueName: "codec"),
        completion: .list(["auto", "h264", "mjpeg", "copy"])
    )
    var videoCodec = "auto"

    @Option(
        help: ArgumentHelp("auto, aac, opus, flac or pcm.", valueName: "codec"),
        completion: .list(["auto", "aac", "opus", "flac", "pcm"])
    )
    var audioCodec = "auto"

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The video's bits per second; 0 leaves it to --quality.", valueName: "bits")
    )
    var bitRate = 0

    @Option(
        name: .shortAndLong,
        parsing: .unconditional,
        help: ArgumentHelp("The picture's quality, 1 to 100.", valueName: "quality")
    )
    var quality = 90

    @Option(
        help: ArgumentHelp(
            "How much work the encoder spends on a smaller file: ultrafast, superfast, veryfast, faster, fast, medium or slow; auto chooses what this machine is fast enough for.",
            valueName: "preset"
        ),
        completion: .list(MovieFileOutput.encoderPresets)
    )
    var encoderPreset = "auto"

    @Option(help: .videoFormat, completion: .videoFormats)
    var videoFormat: String?

    @Option(help: .audioFormat, completion: .audioFormats)
    var audioFormat: String?

    @OptionGroup var turn: TurnOptions

    @OptionGroup var sound: SoundOptions

    @Flag(name: [.customShort("y"), .long], help: .overwriting)
    var overwrite = false

    @OptionGroup var saving: SavingOptions

    @Argument(
        help: ArgumentHelp("The file to record to, unless --to-library is given.", valueName: "file"),
        completion: .file()
    )
    var file: String?

    /// The requested recording, checked as far as possible without the daemon.
    func plan() throws(CaptureError) -> RecordingPlan {
        try RecordingPlan(self)
    }
}

extension OutputDescription {
    /// The formats of a kind of output, as in `jpeg or png`.
    static func choice(of kind: OutputKind) -> String {
        let names = formats(of: kind)
        return names.dropLast().joined(separator: ", ") + " or " + (names.last ?? "")
    }
}

extension Preset: ExpressibleByArgument {
    /// What people call them.
    static let words = ["240p", "480p", "720p", "1080p", "2160p", "low", "medium", "high", "photo"]
    private static let synonyms: [String: Preset] = [
        "240p": .qvga320x240, "qvga": .qvga320x240, "480p": .vga640x480, "vga": .vga640x480, "720p": .hd1280x720,
        "hd": .hd1280x720, "1080p": .hd1920x1080, "2160p": .hd4K3840x2160, "4k": .hd4K3840x2160,
    ]

    /// By AVFoundation's name, or by what people call the size.
    public init?(argument: String) {
        guard let preset = Preset(rawValue: argument) ?? Preset.synonyms[argument.lowercased()] else { return nil }
        self = preset
    }
}

/// A recording as it was asked for: which devices, into what.
struct RecordingPlan {
    let place: RecordingPlace
    let format: FileFormat
    let inputs: [CaptureDeviceInput]
    private let options: RecordingOptions
    private let tags: [FileTag: String]
    /// How much is kept in memory until the movie begins; `nil` for one that begins at once.
    let preRoll: Duration?
    /// What becomes of pictures and sound on their way into it.
    let settings: ConnectionSettings

    /// Reads the options.
    ///
    /// - Throws: `.usage` for options that contradict each other or are out of range.
    init(_ options: RecordingOptions) throws(CaptureError) {
        try NumberOptions.check(duration: options.duration)
        try NumberOptions.check(options.bitRate, "--bit-rate", 0...1_000_000_000)
        try NumberOptions.check(options.quality, "--quality", 1...100)
        place = try options.saving.place(file: options.file, overwrite: options.overwrite)
        try place.requireExtension(options.format, example: "mkv")
        format = try FileFormat.recording(options.format, path: place.name)
        self.options = options
        try options.limits.check()
        try options.writing.check(format)
        tags = try options.writing.tags(format)
        preRoll = try RecordingPlan.preRoll(options, format)
        guard format.kind == .movie || !options.metadata else {
            throw CaptureError(.usage, "--metadata is for movies, such as drive.mkv")
        }
        var settings = try options.turn.settings()
        try options.sound.apply(to: &settings)
        self.settings = settings
        if let option = options.sound.given, options.microphone == "none" {
            throw CaptureError(.usage, "\(option) needs a microphone, and '--microphone none' records without one")
        }
        if let option = options.turn.given, format.kind == .sound || options.camera == "none" {
            throw CaptureError(.usage, "\(option) needs a camera, and there is no picture to record")
        }
        if options.encoderPreset != "auto", !["auto", "h264"].contains(options.videoCodec) {
            throw CaptureError(.usage, "--encoder-preset does not apply to \(options.videoCodec), only to h264")
        }
        if options.bitRate != 0, ["mjpeg", "copy"].contains(options.videoCodec) {
            throw CaptureError(.usage, "--bit-rate does not apply to \(options.videoCodec), only to h264")
        }
        if options.quality != 90, options.videoCodec == "copy" {
            throw CaptureError(.usage, "--quality does not apply to what is copied, only to h264 and mjpeg")
        }
        let ofPictures = [
            (options.preset != nil, "--preset"), (options.videoFormat != nil, "--video-format"),
            (options.videoCodec != "auto", "--video-codec"), (options.encoderPreset != "auto", "--encoder-preset"),
            (options.quality != 90, "--quality"), (options.bitRate != 0, "--bit-rate"),
        ]
        var inputs: [CaptureDeviceInput] = []
        if format.kind == .sound {
            let given =
                [
                    (options.camera.map { $0 != "none" } ?? false, "--camera"),
                    (options.audioCodec != "auto", "--audio-codec"),
                ] + ofPictures
            if let option = given.first(where: \.0)?.1 {
                throw CaptureError(
                    .usage,
                    "\(option) does not apply to \(format.name), which holds only one kind of sound"
                )
            }
        } else if options.camera == "none" {
            if let option = ofPictures.first(where: \.0)?.1 {
                throw CaptureError(.usage, "\(option) needs a camera, and there is no picture to record")
            }
        } else {
            inputs.append(try InputOptions.camera(options.camera, options.preset, options.videoFormat))
        }
        if options.microphone == "none" {
            let ofSound = [
                (options.audioFormat != nil, "--audio-format"), (options.audioCodec != "auto", "--audio-codec"),
            ]
            if let option = ofSound.first(where: \.0)?.1 {
                throw CaptureError(.usage, "\(option) needs a microphone, and '--microphone none' records without one")
            }
        } else {
            inputs.append(try InputOptions.microphone(options.microphone, options.audioFormat))
        }
        if inputs.isEmpty { throw CaptureError(.usage, "nothing to record: --camera and --microphone are both none") }
        self.inputs = inputs
    }

    private static func preRoll(_ options: RecordingOptions, _ format: FileFormat) throws(CaptureError) -> Duration? {
        guard let seconds = options.preRoll else { return nil }
        guard format.kind == .movie else { throw CaptureError(.usage, "--pre-roll is for movies, such as goal.mkv") }
        let longest = Double(OutputDescription.longestPreRoll) / 1e9
        guard seconds > 0, seconds <= longest else {
            throw CaptureError(
                .usage,
                "--pre-roll: \(seconds) is out of range: seconds above 0, at most \(Int(longest))"
            )
        }
        guard options.duration.map({ $0 > seconds }) ?? true else {
            throw CaptureError(.usage, "--duration has to be longer than --pre-roll: it is of the whole movie")
        }
        return .seconds(seconds)
    }

    /// The file to write, opened; `nil` for a recording into the library.
    func open() async throws(CaptureError) -> OutputFile? {
        guard let path = place.path else { return nil }
        return try await Destination.open(path, overwrite: options.overwrite)
    }

    /// A session of the inputs with an output.
    func session(
        with output: any CaptureOutput,
        on daemon: CaptureDaemon,
        isAttached: Bool = true
    ) async throws(CaptureError) -> CaptureSession {
        let session = try await CaptureSession(on: daemon, isAttached: isAttached)
        for input in inputs { try await session.addInput(input) }
        try await session.addOutput(output)
        try await session.apply(settings, to: output.name)
        return session
    }

    /// The output that goes to its place.
    func output(_ file: OutputFile?) throws(CaptureError) -> any CaptureOutput {
        if let file { return try output(to: file.descriptor) }
        guard case .library(let destination) = place else {
            throw CaptureError(.internalFault, "a recording to a file came without the file")
        }
        return try output(to: nil, library: destination)
    }

    /// The files of a movie in segments.
    ///
    /// - Throws: `usage` for a recording that cannot be one.
    func segmentFiles(_ segments: SegmentOptions) throws(CaptureError) -> SegmentFiles {
        guard let path = place.path, format.kind == .movie else {
            throw CaptureError(.usage, "segments are for movies in files, such as lecture.mkv")
        }
        if options.overwrite {
            throw CaptureError(
                .usage,
                "--overwrite does not go with segments: their numbers continue after the highest in the folder"
            )
        }
        return try SegmentFiles(path, keeping: segments.retention)
    }

    /// The output that writes to a file, or saves into the library.
    func output(
        to file: Descriptor?,
        library: LibraryDestination? = nil,
        segments: SegmentRule? = nil
    ) throws(CaptureError) -> any CaptureOutput {
        let description = OutputDescription(
            name: format.kind.rawValue,
            kind: format.kind,
            format: format.name,
            videoCodec: options.videoCodec,
            audioCodec: options.audioCodec,
            videoBitRate: options.bitRate,
            quality: options.quality,
            encoderPreset: options.encoderPreset,
            duration: try MovieFileOutput.nanoseconds(options.duration),
            library: library,
            maxFileSize: try MovieFileOutput.maxFileSize(options.limits.maxSize),
            minFreeSpace: try MovieFileOutput.minFreeSpace(options.limits.minFree),
            segments: segments,
            preRoll: preRoll?.nanoseconds ?? 0,
            hasMetadata: options.metadata,
            fragmentInterval: options.writing.fragmentInterval.nanoseconds,
            tags: tags
        )
        // Of sound, what is for pictures has its usual value: the options are checked.
        return format.kind == .sound
            ? try SoundFileOutput(file, description) : try MovieFileOutput(file, description)
    }
}

/// How options become inputs.
enum InputOptions {
    /// Refuses an empty device id, such as a script's unset variable: it is neither a device nor the first of its kind.
    static func check(_ id: String?, _ option: String) throws(CaptureError) {
        guard let id, id.allSatisfy(\.isWhitespace) else { return }
        throw CaptureError(.usage, "\(option) is empty; give a device's id, as 'capturectl devices' lists it")
    }

    /// A camera with an exact format, a preset, or the default one.
    static func camera(_ id: String?, _ preset: Preset?, _ format: String?) throws(CaptureError) -> CaptureDeviceInput {
        try check(id, "--camera")
        guard let format else { return .camera(id, request: preset.map(\.request)) }
        if preset != nil { throw CaptureError(.usage, "give either --preset or --video-format, not both") }
        return .camera(id, request: try VideoFormatRequest(text: format))
    }

    /// A microphone with an exact format, or the default one.
    static func microphone(_ id: String?, _ format: String?) throws(CaptureError) -> CaptureDeviceInput {
        let request = try format.map { text throws(CaptureError) in try AudioFormatRequest(text: text) }
        try check(id, "--microphone")
        return .microphone(id, request: request ?? AudioFormatRequest())
    }
}
