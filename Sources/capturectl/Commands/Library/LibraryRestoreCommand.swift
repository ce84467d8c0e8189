import ArgumentParser
import CaptureKit

struct LibraryRestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Take assets out of the bin; 'library list --bin' shows what is in it."
    )

    @OptionGroup var bus: BusOptions

    @Argument(help: ArgumentHelp("The assets' ids.", valueName: "id"))
    var ids: [String]

    func run() async throws {
        let numbers = try AssetNumber.parse(ids, atMost: AssetNumber.most)
        let count = try await LibraryRun.changing(bus) { library throws(CaptureError) in
            let ids = try await AssetFinder.ids(of: numbers, in: library, isBinned: true)
            return try await library.restore(ids)
        }
        Output.note("\(Quantities.count(count, "asset")) taken out of the bin")
    }
}
