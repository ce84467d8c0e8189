import ArgumentParser
import CaptureKit

struct PhotoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "photo",
        abstract: "Take a picture, several in a row, or one with the seconds around it."
    )

    @OptionGroup var bus: BusOptions

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The camera, as 'devices' lists it.", valueName: "id"),
        completion: .cameras()
    )
    var camera: String?

    @Option(
        name: .shortAndLong,
        parsing: .unconditional,
        help: ArgumentHelp("Take it from this running session instead.", valueName: "id"),
        completion: .sessions()
    )
    var session: Int?

    @Option(name: .shortAndLong, help: ArgumentHelp("The approximate size. (default: photo)", valueName: "preset"))
    var preset: Preset?

    @Option(
        help: ArgumentHelp("The camera's exact format, as in YUYV:1280x720@30.", valueName: "format"),
        completion: .videoFormats
    )
    var videoFormat: String?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "\(OutputDescription.choice(of: .photo)). (default: the file's extension)",
            valueName: "format"
        ),
        completion: .list(OutputDescription.formats(of: .photo))
    )
    var format: String?

    @Option(
        name: .shortAndLong,
        parsing: .unconditional,
        help: ArgumentHelp("JPEG's quality, 1 to 100.", valueName: "quality")
    )
    var quality = 90

    @OptionGroup var shot: ShotOptions

    @Flag(help: "Take the seconds around it, too: a jpeg with a movie behind its end, as a Motion Photo.")
    var live = false

    @OptionGroup var turn: TurnOptions

    @Flag(
        name: [.customShort("y"), .long],
        help: "Replace the file if it exists; for a symbolic link, replace the file that it points to."
    )
    var overwrite = false

    @Flag(help: "Photograph distances with a depth camera, as a png or tiff with 16 bits per pixel, in millimetres.")
    var depth = false

    @Flag(help: "Print facts about the photo as JSON on standard output.")
    var json = false

    @OptionGroup var saving: SavingOptions

    @Argument(
        help: ArgumentHelp("The file to write, unless --to-library is given.", valueName: "file"),
        completion: .file()
    )
    var file: String?

    func validate() throws {
        if session != nil, camera != nil || preset != nil || videoFormat != nil {
            throw ValidationError("a running session already has a camera and format; leave the other options out")
        }
        if depth, session != nil || videoFormat != nil {
            throw ValidationError("--depth chooses the camera's format; leave --session and --video-format out")
        }
        if live {
            let given = [
                (session != nil, "--session"), (shot.given != nil, shot.given), (depth, "--depth"),
                (turn.given != nil, turn.given),
                (saving.album != nil, "--album"),
            ]
            if let option = given.first(where: \.0)?.1 {
                throw ValidationError("\(option) does not go with --live; leave it out")
            }
        }
        if session != nil, shot.isGiven, let given = turn.given {
            throw ValidationError("these pictures are turned as the session's output is; leave \(given) out")
        }
        if shot.with != nil, depth {
            throw ValidationError("distances have no second file; leave --with out")
        }
        if shot.with != nil, saving.toLibrary {
            throw ValidationError("--with needs a file beside it; the media library keeps one file of a photo")
        }
    }

    func run() async throws {
        try NumberOptions.check(session, "--session", 1...Int(UInt32.max))
        try NumberOptions.check(quality, "--quality", 1...100)
        let turned = try turn.settings()
        let place = try saving.place(file: self.file, overwrite: overwrite)
        try place.requireExtension(format, example: "jpg")
        let kind = try FileFormat.photo(format, path: place.name)
        var taken = try shot.settings(format: kind.name, quality: quality)
        if quality != 90, kind.name != "jpeg", taken.companion != "jpeg" {
            throw CaptureError(.usage, "--quality does not apply to \(kind.name), only to jpeg")
        }
        if depth, !["png", "tiff"].contains(kind.name) {
            throw CaptureError(.usage, "--depth goes into a png or tiff, not \(kind.name)")
        }
        var input = try InputOptions.camera(camera, preset ?? (videoFormat == nil ? .photo : nil), videoFormat)
        if live {
            guard kind.name == "jpeg" else {
                throw CaptureError(.usage, "--live makes a jpeg with a movie behind it, not a \(kind.name)")
            }
            let run = LivePhotoRun(place: place, quality: quality, overwrite: overwrite)
            return try await run.take(with: input, on: try await bus.connect(), json: json)
        }
        let isRaw = [kind.name, taken.companion].contains("dng")
        let special: SpecialFormat? = isRaw ? .raw : kind.name == "tiff" || depth ? .depth : nil
        let takesSpecial = special != nil && session == nil && videoFormat == nil
        if shot.isGiven {
            if case .library(let destination) = place { taken.library = destination }
            let shots = try PhotoBurst(
                place,
                with: shot.with,
                taken,
                hasNumbers: shot.hasNumbers,
                turned: turned,
                overwrite: overwrite
            )
            let daemon = try await bus.connect()
            if takesSpecial, let special { input = try await self.input(in: special, or: input, on: daemon) }
            let photos = try await shots.take(with: input, orOf: session.map(UInt32.init), on: daemon)
            if json { Output.print(photos.json) } else { Output.note(photos.text) }
            return
        }
        var file: OutputFile?
        if let path = place.path { file = try await Destination.open(path, overwrite: overwrite) }
        // Several photos of one session must not take each other's name.
        let name = session == nil ? "photo" : "photo-\(UInt32.random(in: 0...UInt32.max))"
        let output = try output(place, file, named: name, kind.name)
        let daemon = try await bus.connect()
        if takesSpecial, let special { input = try await self.input(in: special, or: input, on: daemon) }
        let outcome: SessionOutcome
        if let session {
            outcome = try await SessionRun.addPhoto(output, turned, to: UInt32(session), file, on: daemon)
        } else {
            let session = try await CaptureSession(on: daemon)
            try await session.addInput(input)
            try await session.addOutput(output)
            try await session.apply(turned, to: output.name)
            let run = SessionRun(session: session, output: output.name, file: file, naming: .whenComplete)
            outcome = try await InlineAgent.during(daemon) { () async throws(CaptureError) in try await run.toTheEnd() }
        }
        if let error = outcome.error { throw error }
        let summary = RecordingSummary(file: place.path, format: kind.name, outcome: outcome)
        if json { Output.print(summary.json) } else { Output.note(summary.text) }
    }

    /// What a photo needs that is no picture of colours.
    private enum SpecialFormat {
        /// A sensor's own numbers, of the most bits that there are.
        case raw
        /// Distances.
        case depth
    }

    /// The camera in a special format, at the largest size or the one nearest to the preset's; `input` for a camera that is
    /// not there, which the daemon says.
    private func input(
        in special: SpecialFormat,
        or input: CaptureDeviceInput,
        on daemon: CaptureDaemon
    ) async throws(CaptureError) -> CaptureDeviceInput {
        let cameras = try await CaptureDevice.devices(for: .video, on: daemon)
        func formats(of device: CaptureDevice) -> [VideoFormatOption] {
            special == .raw ? device.rawFormats : device.depthFormats
        }
        // Without a name, the first that has it.
        let able = camera == nil ? cameras.first { !formats(of: $0).isEmpty } : nil
        let found =
            able
            ?? cameras.first { device in
                guard let camera else { return true }
                return device.id.rawValue == camera || device.description.aliases.contains(camera)
            }
        guard let found else { return input }
        guard let format = formats(of: found).first else {
            throw CaptureError(
                .noSuchFormat,
                special == .raw
                    ? "\(found.name) offers no Bayer format that a DNG can be made of; take a jpeg or png"
                    : "\(found.name) offers no distances; take a jpeg or png"
            )
        }
        var request = (preset ?? .photo).request
        request.pixelFormat = format.pixelFormat
        return .camera(found.id.rawValue, request: request)
    }

    private func output(
        _ place: RecordingPlace,
        _ file: OutputFile?,
        named name: String,
        _ format: String
    ) throws(CaptureError) -> PhotoOutput {
        if let file { return try PhotoOutput(file: file.descriptor, name: name, format: format, quality: quality) }
        guard case .library(let destination) = place else {
            throw CaptureError(.internalFault, "a photo for a file came without the file")
        }
        return try PhotoOutput(toLibrary: destination, name: name, format: format, quality: quality)
    }
}
