import ArgumentParser
import CaptureKit

struct AlbumMoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "move",
        abstract: "Move assets within an album, in the given order.",
        discussion: "'library list --album NAME --order position' shows an album in its order."
    )

    @OptionGroup var bus: BusOptions

    @Argument(help: .album, completion: .albums)
    var album: String

    @Argument(help: ArgumentHelp("The assets' ids.", valueName: "id"))
    var ids: [String]

    @Option(help: ArgumentHelp("Put them before this asset. (default: at the album's end)", valueName: "id"))
    var before: String?

    func run() async throws {
        if album.isEmpty { throw CaptureError(.usage, "the album's name is empty") }
        let numbers = try AssetNumber.parse(ids, atMost: AssetNumber.most)
        let next = try before.map { try AssetNumber.parse([$0])[0] }
        try await LibraryRun.changing(bus) { library throws(CaptureError) in
            let album = try await AlbumFinder.album(album, in: library)
            let ids = try await AssetFinder.ids(of: numbers, in: library)
            var place: MediaAsset.ID?
            if let next { place = try await AssetFinder.id(of: next, in: library) }
            try await library.move(ids, inAlbum: album.id, before: place)
        }
    }
}
