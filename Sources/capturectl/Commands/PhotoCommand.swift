import ArgumentParser
import CaptureKit

struct PhotoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "photo",
        abstract: "Take one picture."
    )

    @OptionGroup var bus: BusOptions

    @Option(help: ArgumentHelp("The camera, as 'devices' lists it.", valueName: "id"))
    var camera: String?

    @Option(parsing: .unconditional, help: ArgumentHelp("Take it from this running session instead.", valueName: "id"))
    var session: Int?

    @Option(help: ArgumentHelp("The size to come near to. (default: photo)", valueName: "preset"))
    var preset: Preset?

    @Option(help: ArgumentHelp("Exactly this from the camera, as in YUYV:1280x720@30.", valueName: "format"))
    var videoFormat: String?

    @Option(help: ArgumentHelp("jpeg or png. (default: the file's extension)", valueName: "format"))
    var format: String?

    @Option(parsing: .unconditional, help: ArgumentHelp("JPEG's quality, 1 to 100.", valueName: "quality"))
    var quality = 90

    @Flag(help: "Replace the file if it is there; of a symbolic link, the file it leads to.")
    var overwrite = false

    @Flag(help: "Print what was taken as JSON on standard output.")
    var json = false

    @OptionGroup var saving: SavingOptions

    @Argument(
        help: ArgumentHelp("The file to write, unless --to-library is given.", valueName: "file"),
        completion: .file()
    )
    var file: String?

    func validate() throws {
        if session != nil, camera != nil || preset != nil || videoFormat != nil {
            throw ValidationError("a running session has its camera and format already; leave the other options out")
        }
    }

    func run() async throws {
        try NumberOptions.check(session, "--session", 1...Int(UInt32.max))
        try NumberOptions.check(quality, "--quality", 1...100)
        let place = try saving.place(file: self.file, overwrite: overwrite)
        let kind = try FileFormat.photo(format, path: place.name)
        let input = try InputOptions.camera(camera, preset ?? (videoFormat == nil ? .photo : nil), videoFormat)
        var file: OutputFile?
        if let path = place.path { file = try await Destination.open(path, overwrite: overwrite) }
        // Several photos of one session must not take each other's name.
        let name = session == nil ? "photo" : "photo-\(UInt32.random(in: 0...UInt32.max))"
        let output = try output(place, file, named: name, kind.name)
        let daemon = try await bus.connect()
        let outcome: SessionOutcome
        if let session {
            outcome = try await SessionRun.addPhoto(output, to: UInt32(session), file, on: daemon)
        } else {
            let session = try await CaptureSession(on: daemon)
            try await session.addInput(input)
            try await session.addOutput(output)
            let run = SessionRun(session: session, output: output.name, file: file, isNamedWhenComplete: true)
            outcome = try await InlineAgent.during(daemon) { () async throws(CaptureError) in try await run.toTheEnd() }
        }
        if let error = outcome.error { throw error }
        let summary = RecordingSummary(file: place.path, format: kind.name, outcome: outcome)
        if json { Output.print(summary.json) } else { Output.note(summary.text) }
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
