import ArgumentParser
import CaptureKit

struct PhotoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "photo",
        abstract: "Take a picture, several in a row, or one with the seconds around it."
    )

    @OptionGroup var bus: BusOptions

    @Option(name: .shortAndLong, help: .camera, completion: .cameras())
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
        parsing: .unconditional,
        help: ArgumentHelp(
            "The exact size, as in 1920x1080, one that the camera has. With --session, the camera changes its format for the picture, and other outputs pause.",
            valueName: "size"
        ),
        transform: NumberOptions.size
    )
    var size: PictureSize?

    @Option(help: .videoFormat, completion: .videoFormats)
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

    @Flag(help: "Write the sensor's own numbers: a dng.")
    var raw = false

    @OptionGroup var shot: ShotOptions

    @Flag(help: "Take the seconds around it, too: a jpeg with a movie behind its end, as a Motion Photo.")
    var live = false

    @Flag(help: "With --live, record sound, too.")
    var sound = false

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("With --live, record sound by this microphone, as 'devices' lists it.", valueName: "id"),
        completion: .microphones()
    )
    var microphone: String?

    @OptionGroup var turn: TurnOptions

    @Flag(name: [.customShort("y"), .long], help: .overwriting)
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
        if size != nil, preset != nil || videoFormat != nil {
            throw ValidationError("--size is the camera's size; leave --preset and --video-format out")
        }
        if !live, sound || microphone != nil {
            throw ValidationError("only live photos have sound; give --live, too, or leave the sound out")
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
        if shot.with != nil, depth {
            throw ValidationError("distances have no second file; leave --with out")
        }
    }

    /// The format that options tell.
    ///
    /// - Throws: `usage` for a raw photo with another name or format.
    private func format(in place: RecordingPlace) throws(CaptureError) -> String? {
        guard raw else {
            let isNamed = FileFormat.fileExtension(of: place.name) != nil
            return format ?? shot.format(in: place) ?? (depth && !isNamed ? "png" : nil)
        }
        if let format, format.lowercased() != "dng" {
            throw CaptureError(.usage, "--raw makes a dng, not a \(Printable.text(format)); leave one of them out")
        }
        guard let ending = FileFormat.fileExtension(of: place.name), ending.lowercased() != "dng" else { return "dng" }
        let name = Printable.text(String(place.name.dropLast(ending.count)))
        throw CaptureError(.usage, "--raw makes a dng; name it \(name)dng, or leave --raw out")
    }

    func run() async throws {
        try NumberOptions.check(session, "--session", 1...Int(UInt32.max))
        try NumberOptions.check(quality, "--quality", 1...100)
        let turned = try turn.settings()
        let place = try saving.place(file: self.file, overwrite: overwrite)
        let told = try self.format(in: place)
        try place.requireExtension(told, example: "jpg")
        let kind = try FileFormat.photo(told, path: place.name)
        var taken = try shot.settings(format: kind.name, quality: quality, to: place)
        taken.size = session == nil ? nil : size
        // As photos of a session that goes on, not as an output of its own.
        let isShot = shot.isGiven || session != nil && (size != nil || taken.isRaw)
        if isShot, session != nil, let given = turn.given {
            throw CaptureError(.usage, "these pictures are turned as the session's output is; leave \(given) out")
        }
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
            try InputOptions.check(microphone, "--microphone")
            let listens = sound || microphone != nil
            let run = LivePhotoRun(place: place, quality: quality, overwrite: overwrite)
            let daemon = try await bus.connect()
            if size != nil { input = try await self.input(or: input, on: daemon) }
            let inputs = [input] + (listens ? [.microphone(microphone)] : [])
            return try await run.take(with: inputs, on: daemon, json: json)
        }
        let special: SpecialFormat? = taken.isRaw ? .raw : kind.name == "tiff" || depth ? .depth : nil
        let looks = (special != nil || size != nil) && session == nil && videoFormat == nil
        if isShot {
            let shots = try PhotoBurst(
                place,
                with: shot.with,
                taken,
                hasNumbers: shot.hasNumbers,
                turned: turned,
                overwrite: overwrite
            )
            let daemon = try await bus.connect()
            if looks { input = try await self.input(in: special, or: input, on: daemon) }
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
        if looks { input = try await self.input(in: special, or: input, on: daemon) }
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

    /// The camera in a special format or size; without a size, at the largest or the one nearest to the preset's. `input`
    /// for a camera that is not there, which the daemon says.
    private func input(
        in special: SpecialFormat? = nil,
        or input: CaptureDeviceInput,
        on daemon: CaptureDaemon
    ) async throws(CaptureError) -> CaptureDeviceInput {
        let cameras = try await CaptureDevice.devices(for: .video, on: daemon)
        func formats(of device: CaptureDevice) -> [VideoFormatOption] {
            switch special {
            case .raw: device.rawFormats
            case .depth: device.depthFormats
            case nil: device.videoFormats
            }
        }
        // Without a name, the first that has it.
        let able = camera == nil && special != nil ? cameras.first { !formats(of: $0).isEmpty } : nil
        let found =
            able
            ?? cameras.first { device in
                guard let camera else { return true }
                return device.id.rawValue == camera || device.description.aliases.contains(camera)
            }
        guard let found else { return input }
        guard var format = formats(of: found).first else {
            throw CaptureError(
                .noSuchFormat,
                special == .raw
                    ? "\(found.name) offers no Bayer format that a DNG can be made of; take a jpeg or png"
                    : "\(found.name) offers no \(special == .depth ? "distances; leave --camera out for the first depth camera" : "format now")"
            )
        }
        var request = (preset ?? .photo).request
        if let size {
            let what = special == .raw ? "in a Bayer format" : special == .depth ? "with distances" : ""
            format = try formats(of: found).offering(size, of: found.name, as: what).first ?? format
            request = VideoFormatRequest(width: size.width, height: size.height, isExact: true)
        }
        if special != nil { request.pixelFormat = format.pixelFormat }
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
