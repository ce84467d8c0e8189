import ArgumentParser
import CaptureKit

struct KeptDiscardCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "discard",
        abstract: "Discard kept recordings for good.",
        discussion: "You are asked to confirm this, on this terminal or on the desktop."
    )

    @OptionGroup var bus: BusOptions

    @Argument(help: ArgumentHelp("The recordings' ids.", valueName: "id"))
    var ids: [String]

    func run() async throws {
        let numbers = try AssetNumber.parse(ids, of: "recording", listedBy: "library kept", atMost: AssetNumber.most)
        try await LibraryRun.during(bus) { library throws(CaptureError) in
            let ids = try await KeptFinder.ids(numbers, in: library)
            try await library.discardKept(ids)
            Output.note("\(Quantities.count(ids.count, "recording")) discarded")
        }
    }
}
