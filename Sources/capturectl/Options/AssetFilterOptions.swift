public import ArgumentParser
public import CaptureKit

extension MediaAssetKind: ExpressibleByArgument {}
extension AssetFetchOptions.Order: ExpressibleByArgument {}
extension ThumbnailSize: ExpressibleByArgument {}

/// The assets that a command works on.
struct AssetFilterOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Only this kind: photo, movie or sound. Can be repeated.", valueName: "kind"))
    var kind: [MediaAssetKind] = []

    @Option(parsing: .unconditional, help: ArgumentHelp("Taken at this time or later.", valueName: "time"))
    var from: String?

    @Option(parsing: .unconditional, help: ArgumentHelp("Taken before this time.", valueName: "time"))
    var until: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("In this album, by name or id.", valueName: "album"),
        completion: .albums
    )
    var album: String?

    @Option(
        help: ArgumentHelp("Made by this program, by its id or path.", valueName: "program"),
        completion: .programs,
        transform: ProgramName.whole
    )
    var program: String?

    @Flag(inversion: .prefixedNo, help: "Only favourites, or only everything else.")
    var favourite: Bool?

    @Flag(help: "Assets in the bin instead of those outside it.")
    var bin = false

    /// The options' filter, without the album.
    ///
    /// - Throws: `usage`.
    func filter() throws(CaptureError) -> AssetFetchOptions {
        try AlbumFinder.check(album, "--album")
        if let program { try ProgramName.check(program) }
        var options = AssetFetchOptions()
        options.kinds = Set(kind)
        options.program = program
        options.isFavourite = favourite
        options.isBinned = bin
        if let from { options.from = try MomentArgument.milliseconds(from, "--from", .past) }
        if let until { options.until = try MomentArgument.milliseconds(until, "--until", .past) }
        if let from = options.from, let until = options.until, from >= until {
            throw CaptureError(.usage, "--from is not before --until, so nothing can match")
        }
        return options
    }

    /// The options' filter, with the named album.
    ///
    /// - Returns: `nil` if the program may not read and so sees no albums at all: it finds nothing, without an error.
    func filter(in library: MediaLibrary) async throws(CaptureError) -> AssetFetchOptions? {
        var options = try filter()
        guard let album else { return options }
        do throws(CaptureError) {
            options.album = try await AlbumFinder.album(album, in: library).id
        } catch  where error.code == .noSuchAlbum {
            let status = try await library.authorizationStatus(for: .readWrite)
            if LibraryPresentation.refusal(status) != nil { return nil }
            throw error
        }
        return options
    }
}
