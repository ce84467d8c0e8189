import ArgumentParser
import CaptureKit

struct TakeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "take",
        abstract: "Ask the person to take a photo or movie.",
        discussion: """
            Needs no consent for the camera. The agent of your session, or this terminal, shows what the camera sees after \
            you turn it on there. The command gets only the photo or movie that you take. It fails if the policy forbids \
            this program the camera, or if the camera is switched off. The file's extension chooses the kind: jpg for a \
            photo, mp4 for a movie.
            """
    )

    @OptionGroup var bus: BusOptions

    @OptionGroup var pictures: PictureOptions

    @Option(
        name: .shortAndLong,
        parsing: .unconditional,
        help: ArgumentHelp("How long a movie may be, at most 1 h. (default: 10m)", valueName: "time"),
        transform: NumberOptions.seconds
    )
    var duration: Double?

    @Flag(name: [.customShort("y"), .long], help: .overwriting)
    var overwrite = false

    @Flag(help: "Print facts about the file as JSON on standard output.")
    var json = false

    @Argument(help: ArgumentHelp("The file to write.", valueName: "file"), completion: .file())
    var file: String

    func run() async throws {
        let isMovie = try isMovie
        if let duration, !(1...3600).contains(duration) || duration != duration.rounded() {
            throw CaptureError(.usage, "--duration is \(duration) s; it must be 1s to 1h, in whole seconds")
        }
        // Before the person takes the trouble.
        let target = try OutputFile(creating: file, overwrite: overwrite)
        try await LibraryRun.during(bus, pictures: pictures.pictures) { library throws(CaptureError) in
            let taken = try await TakeCommand.take(isMovie ? Int(duration ?? 600) : nil, library)
            _ = try FileCopy.copy(try await taken.open(), to: target.descriptor)
            try FileCopy.sync(target.descriptor, file)
            try target.keep()
            if json {
                let facts: JSON = [
                    "file": JSON(file), "name": JSON(taken.name), "kind": JSON(taken.kind.rawValue),
                    "mediaType": JSON(taken.mediaType),
                    "size": JSON(taken.size),
                ]
                Output.print(facts)
            } else {
                Output.note("\(Printable.text(file, limit: 1000)): \(Quantities.size(taken.size))")
            }
        }
    }

    /// - Parameter longest: How long a movie may be, in seconds; `nil` for a photo.
    private static func take(_ longest: Int?, _ library: MediaLibrary) async throws(CaptureError) -> PickedContent {
        // The question is withdrawn then, and this terminal is as it was.
        try await Interrupts.cancelling { () async throws(CaptureError) in
            guard let longest else { return try await library.takePhoto() }
            return try await library.takeMovie(maximumDuration: longest)
        }
    }

    private var isMovie: Bool {
        get throws {
            let ending = file.split(separator: ".").last?.lowercased() ?? ""
            switch ending {
            case "jpg", "jpeg":
                if duration != nil { throw CaptureError(.usage, "--duration is for movies; leave it out") }
                return false
            case "mp4": return true
            default:
                let shown = Printable.text(file, limit: 200)
                throw CaptureError(.usage, "'\(shown)' ends neither in .jpg, for a photo, nor in .mp4, for a movie")
            }
        }
    }
}
