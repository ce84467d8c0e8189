import ArgumentParser
import CaptureKit

struct LibraryRevertCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revert",
        abstract: "Show an asset's original again, and forget its edit."
    )

    @OptionGroup var bus: BusOptions

    @Argument(help: ArgumentHelp("The asset's id.", valueName: "id"))
    var id: String

    func run() async throws {
        let number = try AssetNumber.parse([id])[0]
        try await LibraryRun.changing(bus) { library throws(CaptureError) in
            try await library.revert(try await AssetFinder.id(of: number, in: library))
        }
    }
}
