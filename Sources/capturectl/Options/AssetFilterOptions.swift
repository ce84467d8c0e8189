public import ArgumentParser
public import CaptureKit

extension MediaAssetKind: ExpressibleByArgument {}
extension AssetFetchOptions.Order: ExpressibleByArgument {}
extension ThumbnailSize: ExpressibleByArgument {}

/// Which assets a command is about.
struct AssetFilterOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Of this kind: photo, movie or sound; may be given again.", valueName: "kind"))
    var kind: [MediaAssetKind] = []

    @Option(parsing: .unconditional, help: ArgumentHelp("Taken then or later.", valueName: "time"))
    var from: String?

    @Option(parsing: .unconditional, help: ArgumentHelp("Taken before that.", valueName: "time"))
    var until: String?

    @Option(parsing: .unconditional, help: ArgumentHelp("In this album, by name or id.", valueName: "album"))
    var album: String?

    @Option(help: ArgumentHelp("Made by this program, by its id.", valueName: "program"))
    var program: String?

    @Flag(inversion: .prefixedNo, help: "Favourites alone, or everything else alone.")
    var favourite: Bool?

    @Flag(help: "What is in the bin, in the place of what is not.")
    var bin = false

    /// What the options say, but the album.
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
            throw CaptureError(.usage, "--from is not before --until, so nothing could be shown")
        }
        return options
    }

    /// The same, with the album that is named.
    ///
    /// - Returns: `nil` where the program sees no albums at all, since it may not read: it finds nothing, without an
    ///   error.
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
