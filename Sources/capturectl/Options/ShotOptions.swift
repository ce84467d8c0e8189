public import ArgumentParser
public import CaptureKit

/// Options of pictures that are more than one file of the next frame.
struct ShotOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        parsing: .unconditional,
        help: ArgumentHelp(
            "Take this many consecutive pictures, 1 to \(PhotoSettings.longestBurst), into files with numbers.",
            valueName: "count"
        )
    )
    var burst: Int?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Take a picture for each exposure, in stops, into files with numbers: -1,0,1 for darker, as usual, brighter.",
            valueName: "stops"
        ),
        transform: NumberOptions.list
    )
    var bracket: [Double]?

    @Option(help: ArgumentHelp("Have the camera's lamp shine for the picture, or not: on, off.", valueName: "use"))
    var flash: PhotoFlash?

    @Option(
        help: ArgumentHelp(
            "Write the same picture into this file, too, in the format of its extension: a jpg beside a dng. "
                + "With --to-library: jpg, which the asset, a dng, has inside.",
            valueName: "file"
        ),
        completion: .file()
    )
    var with: String?

    /// Whether one of them is there.
    var isGiven: Bool { given != nil }

    /// The first of them that is there.
    var given: String? {
        [(burst != nil, "--burst"), (bracket != nil, "--bracket"), (flash != nil, "--flash"), (with != nil, "--with")]
            .first(where: \.0)?.1
    }

    /// Whether the files have numbers.
    var hasNumbers: Bool { burst != nil || bracket != nil }

    func validate() throws {
        if burst != nil, bracket != nil {
            throw ValidationError("--burst and --bracket take different pictures; leave one of them out")
        }
    }

    /// The settings of pictures in the given format.
    ///
    /// - Parameter place: Where they go: the library keeps both formats of a picture in one file.
    /// - Throws: `usage`, for a value out of range and for a second file whose format cannot be told.
    func settings(format: String, quality: Int, to place: RecordingPlace) throws -> PhotoSettings {
        try NumberOptions.check(burst, "--burst", 1...PhotoSettings.longestBurst)
        var settings = PhotoSettings(format: format, quality: quality, burst: burst ?? 1)
        settings.bracket = bracket ?? []
        settings.flash = flash
        if case .library(let destination) = place { settings.library = destination }
        if let with {
            switch place {
            case .file:
                try RecordingPlace.file(with).requireExtension(nil, example: "jpg")
                settings.companion = try FileFormat.photo(nil, path: with).name
            case .library:
                guard FileFormat.fileExtension(of: with) == nil else {
                    throw CaptureError(
                        .usage,
                        "the media library keeps one file of a photo; give --with jpg for a dng with a jpeg inside"
                    )
                }
                settings.companion = try FileFormat.photo(with, path: "").name
            }
        }
        return settings
    }

    /// The format of a picture for which neither an option nor a name tells one; `nil` for the usual.
    func format(in place: RecordingPlace) -> String? {
        guard case .library(let destination) = place, with != nil,
            FileFormat.fileExtension(of: destination.name) == nil
        else { return nil }
        // The only one that can have another inside.
        return "dng"
    }
}

extension PhotoFlash: ExpressibleByArgument {}
