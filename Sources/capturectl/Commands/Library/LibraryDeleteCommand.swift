import ArgumentParser
import CaptureKit

struct LibraryDeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Move assets to the bin, which erases them after 30 days unless KeepDeletedFor= says otherwise.",
        discussion: """
            You are asked to confirm this, on this terminal or on the desktop. 'library restore' takes them out again.
            """
    )

    @OptionGroup var bus: BusOptions

    @Argument(help: ArgumentHelp("The assets' ids.", valueName: "id"))
    var ids: [String]

    func run() async throws {
        let numbers = try AssetNumber.parse(ids, atMost: AssetNumber.most)
        let count = try await LibraryRun.changing(bus) { library throws(CaptureError) in
            try await library.delete(try await AssetFinder.ids(of: numbers, in: library))
        }
        Output.note("\(Quantities.count(count, "asset")) moved to the bin")
    }
}
