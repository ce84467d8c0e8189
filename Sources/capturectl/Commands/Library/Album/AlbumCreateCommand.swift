import ArgumentParser
import CaptureKit

struct AlbumCreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Create an album, and print its id."
    )

    @OptionGroup var bus: BusOptions

    @Argument(help: ArgumentHelp("Its name.", valueName: "name"))
    var name: String

    func run() async throws {
        if name.isEmpty { throw CaptureError(.usage, "the album's name is empty") }
        let id = try await LibraryRun.changing(bus) { library throws(CaptureError) in
            try await library.createAlbum(name)
        }
        Output.print(id)
    }
}
