import ArgumentParser
import CaptureKit

/// The options of `record`, `start` and `photo` that save into the media library instead of a file.
struct SavingOptions: ParsableArguments {
    @Flag(help: "Save it into the media library instead of a file.")
    var toLibrary = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Put it into this album of the library, and create the album if needed.",
            valueName: "name"
        ),
        completion: .albums
    )
    var album: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Its name in the library. (default: its kind and time)", valueName: "name")
    )
    var name: String?

    /// Where the recording goes.
    ///
    /// - Throws: `.usage` for a file and the library both, neither, or an option of the other.
    func place(file: String?, overwrite: Bool) throws(CaptureError) -> RecordingPlace {
        guard toLibrary else {
            for (value, option) in [(album, "--album"), (name, "--name")] where value != nil {
                throw CaptureError(.usage, "\(option) goes with --to-library")
            }
            guard let file else { throw CaptureError(.usage, "give the file to write, or --to-library") }
            return .file(file)
        }
        if let file {
            throw CaptureError(
                .usage,
                "give either a file or --to-library, not both; the name in the library is given by --name: "
                    + Printable.text(file)
            )
        }
        if overwrite { throw CaptureError(.usage, "--overwrite goes with a file, not with --to-library") }
        if album?.isEmpty == true {
            throw CaptureError(.usage, "--album is empty; give an album's name, or leave it out")
        }
        if name?.isEmpty == true { throw CaptureError(.usage, "--name is empty; give a file's name, or leave it out") }
        return .library(LibraryDestination(name: name ?? "", album: album))
    }
}

/// Where a recording goes.
enum RecordingPlace: Hashable, Sendable {
    /// To a file of this path.
    case file(String)
    /// Into the media library.
    case library(LibraryDestination)

    /// The name that may tell its format.
    var name: String {
        switch self {
        case .file(let path): path
        case .library(let destination): destination.name
        }
    }

    /// Refuses a file whose format cannot be told.
    ///
    /// - Parameters:
    ///   - format: The option that would tell.
    ///   - example: An extension, for the message.
    /// - Throws: `usage`.
    func requireExtension(_ format: String?, example: String) throws(CaptureError) {
        guard let path, format == nil, !path.isEmpty, FileFormat.fileExtension(of: path) == nil else { return }
        let name = Printable.text(path)
        throw CaptureError(.usage, "'\(name)' has no extension; name it '\(name).\(example)', say, or give --format")
    }

    /// The path; `nil` in the library.
    var path: String? {
        if case .file(let path) = self { path } else { nil }
    }
}
