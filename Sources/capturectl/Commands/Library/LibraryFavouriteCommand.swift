import ArgumentParser
import CaptureKit

struct LibraryFavouriteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "favourite",
        abstract: "Mark an asset as a favourite."
    )

    @OptionGroup var bus: BusOptions

    @Flag(help: "Remove the mark.")
    var off = false

    @Argument(help: ArgumentHelp("The asset's id.", valueName: "id"))
    var id: String

    func run() async throws {
        let number = try AssetNumber.parse([id])[0]
        try await LibraryRun.changing(bus) { library throws(CaptureError) in
            try await library.setFavourite(try await AssetFinder.id(of: number, in: library), !off)
        }
    }
}
