public import ArgumentParser
public import CaptureKit

/// What `record` and `start` take alike.
struct RecordingOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The camera, as 'devices' lists it, or none.", valueName: "id"))
    var camera: String?

    @Option(help: ArgumentHelp("The microphone, as 'devices' lists it, or none.", valueName: "id"))
    var microphone: String?

    @Option(help: ArgumentHelp("The size and rate to come near to.", valueName: "preset"))
    var preset: Preset?

    @Option(
        help: ArgumentHelp(
            "mkv, mp4, mov, wav, flac or opus; the last three record sound alone. (default: the file's extension)",
            valueName: "format"
        )
    )
    var format: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Seconds after which the recording ends by itself.", valueName: "seconds")
    )
    var duration: Double?

    @Option(help: ArgumentHelp("auto, h264, mjpeg or copy.", valueName: "codec"))
    var videoCodec = "auto"

    @Option(help: ArgumentHelp("auto, aac, opus, flac or pcm.", valueName: "codec"))
    var audioCodec = "auto"

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Bits a second for the picture; 0 leaves it to the encoder.", valueName: "bits")
    )
    var bitRate = 0

    @Option(help: ArgumentHelp("Exactly this from the camera, as in YUYV:1280x720@30.", valueName: "format"))
    var videoFormat: String?

    @Option(help: ArgumentHelp("Exactly this from the microphone, as in S16_LE:48000x2.", valueName: "format"))
    var audioFormat: String?

    @Flag(help: "Replace the file if it is there; of a symbolic link, the file it leads to.")
    var overwrite = false

    @OptionGroup var saving: SavingOptions

    @Argument(
        help: ArgumentHelp("The file to record to, unless --to-library is given.", valueName: "file"),
        completion: .file()
    )
    var file: String?

    /// The recording that was asked for, checked as far as that goes without the daemon.
    func plan() throws(CaptureError) -> RecordingPlan {
        try RecordingPlan(self)
    }
}

extension Preset: ExpressibleByArgument {}

/// A recording as it was asked for: which devices, into what.
struct RecordingPlan {
    let place: RecordingPlace
    let format: FileFormat
    let inputs: [CaptureDeviceInput]
    private let videoCodec: String
    private let audioCodec: String
    private let bitRate: Int
    private let duration: Double?

    /// Reads the options.
    ///
    /// - Throws: `.usage` for options that contradict each other or are out of range.
    init(_ options: RecordingOptions) throws(CaptureError) {
        try NumberOptions.check(duration: options.duration)
        try NumberOptions.check(options.bitRate, "--bit-rate", 0...1_000_000_000)
        place = try options.saving.place(file: options.file, overwrite: options.overwrite)
        format = try FileFormat.recording(options.format, path: place.name)
        videoCodec = options.videoCodec
        audioCodec = options.audioCodec
        bitRate = options.bitRate
        duration = options.duration
        var inputs: [CaptureDeviceInput] = []
        if format.kind == .sound {
            let given = [
                (options.camera.map { $0 != "none" } ?? false, "--camera"), (options.preset != nil, "--preset"),
                (options.videoFormat != nil, "--video-format"), (options.videoCodec != "auto", "--video-codec"),
                (options.audioCodec != "auto", "--audio-codec"),
            ]
            if let option = given.first(where: \.0)?.1 {
                throw CaptureError(
                    .usage,
                    "\(option) has no meaning for \(format.name), which holds one kind of sound alone"
                )
            }
        } else if options.camera != "none" {
            inputs.append(try InputOptions.camera(options.camera, options.preset, options.videoFormat))
        }
        if options.microphone != "none" {
            let request = try options.audioFormat.map { text throws(CaptureError) in try AudioFormatRequest(text: text)
            }
            try InputOptions.check(options.microphone, "--microphone")
            inputs.append(.microphone(options.microphone, request: request ?? AudioFormatRequest()))
        }
        if inputs.isEmpty { throw CaptureError(.usage, "neither a camera nor a microphone is left to record") }
        self.inputs = inputs
    }

    /// The file to write, opened; `nil` for a recording into the library.
    func open(overwrite: Bool) async throws(CaptureError) -> OutputFile? {
        guard let path = place.path else { return nil }
        return try await Destination.open(path, overwrite: overwrite)
    }

    /// The output that goes to its place.
    func output(_ file: OutputFile?) throws(CaptureError) -> any CaptureOutput {
        if let file { return try output(to: file.descriptor) }
        guard case .library(let destination) = place else {
            throw CaptureError(.internalFault, "a recording to a file came without the file")
        }
        switch format.kind {
        case .sound: return try SoundFileOutput(toLibrary: destination, format: format.name, duration: duration)
        default:
            return try MovieFileOutput(
                toLibrary: destination,
                format: format.name,
                videoCodec: videoCodec,
                audioCodec: audioCodec,
                bitRate: bitRate,
                duration: duration
            )
        }
    }

    /// The output that writes to a file.
    func output(to file: Descriptor) throws(CaptureError) -> any CaptureOutput {
        switch format.kind {
        case .sound: try SoundFileOutput(file: file, format: format.name, duration: duration)
        default:
            try MovieFileOutput(
                file: file,
                format: format.name,
                videoCodec: videoCodec,
                audioCodec: audioCodec,
                bitRate: bitRate,
                duration: duration
            )
        }
    }
}

/// How options become inputs.
enum InputOptions {
    /// Refuses a device's id that is empty, as of a variable in a script that was never set: it is neither a device nor
    /// the first of its kind.
    static func check(_ id: String?, _ option: String) throws(CaptureError) {
        guard let id, id.allSatisfy(\.isWhitespace) else { return }
        throw CaptureError(.usage, "\(option) is empty; give a device's id, as 'capturectl devices' lists it")
    }

    /// A camera with an exact format, a preset, or the default one.
    static func camera(_ id: String?, _ preset: Preset?, _ format: String?) throws(CaptureError) -> CaptureDeviceInput {
        try check(id, "--camera")
        guard let format else { return .camera(id, request: preset.map(\.request)) }
        if preset != nil { throw CaptureError(.usage, "--preset and --video-format exclude each other") }
        return .camera(id, request: try VideoFormatRequest(text: format))
    }
}
