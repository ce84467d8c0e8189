import ArgumentParser
import CaptureKit

struct AlbumListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the albums."
    )

    @OptionGroup var bus: BusOptions

    @OptionGroup var table: TableOptions

    func run() async throws {
        let albums = try await LibraryRun.reading(bus) { library throws(CaptureError) in
            let albums = try await library.albums()
            try await LibraryRun.tellStatus(of: library)
            return albums
        }
        table.show(albums, LibraryPresentation.table, LibraryPresentation.json)
    }
}
