import ArgumentParser
import CaptureKit

struct AlbumDeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete an album; its assets stay in the library."
    )

    @OptionGroup var bus: BusOptions

    @Argument(help: .album, completion: .albums)
    var album: String

    func run() async throws {
        if album.isEmpty { throw CaptureError(.usage, "the album's name is empty") }
        try await LibraryRun.changing(bus) { library throws(CaptureError) in
            try await library.deleteAlbum(try await AlbumFinder.album(album, in: library).id)
        }
    }
}
