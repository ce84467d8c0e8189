import ArgumentParser
import CaptureKit

struct AlbumRenameCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rename",
        abstract: "Rename an album."
    )

    @OptionGroup var bus: BusOptions

    @Argument(help: .album, completion: .albums)
    var album: String

    @Argument(help: ArgumentHelp("Its new name.", valueName: "name"))
    var name: String

    func run() async throws {
        if album.isEmpty || name.isEmpty { throw CaptureError(.usage, "an album's name is empty") }
        try await LibraryRun.changing(bus) { library throws(CaptureError) in
            try await library.renameAlbum(try await AlbumFinder.album(album, in: library).id, to: name)
        }
    }
}
