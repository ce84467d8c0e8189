import ArgumentParser
import CaptureKit

struct KeptDiscardCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "discard",
        abstract: "Throw them away for good."
    )

    @OptionGroup var bus: BusOptions

    @Argument(help: ArgumentHelp("The recordings' ids.", valueName: "id"))
    var ids: [String]

    func run() async throws {
        let numbers = try AssetNumber.parse(ids)
        try await LibraryRun.during(bus) { library throws(CaptureError) in
            for id in try await KeptFinder.ids(numbers, in: library) {
                try await library.discardKept(id)
                Output.note("\(id) discarded")
            }
        }
    }
}
