import ArgumentParser
import CaptureKit

struct AlbumRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove assets from an album; they stay in the library."
    )

    @OptionGroup var bus: BusOptions

    @Argument(help: .album, completion: .albums)
    var album: String

    @Argument(help: ArgumentHelp("The assets' ids.", valueName: "id"))
    var ids: [String]

    func run() async throws {
        if album.isEmpty { throw CaptureError(.usage, "the album's name is empty") }
        let numbers = try AssetNumber.parse(ids, atMost: AssetNumber.most)
        try await LibraryRun.changing(bus) { library throws(CaptureError) in
            let album = try await AlbumFinder.album(album, in: library)
            let ids = try await AssetFinder.ids(of: numbers, in: library)
            try await library.remove(ids, fromAlbum: album.id)
        }
    }
}
