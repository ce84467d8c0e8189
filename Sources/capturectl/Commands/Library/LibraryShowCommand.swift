import ArgumentParser
import CaptureKit

struct LibraryShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show everything that is known about an asset.",
        discussion: """
            Takes the ids that 'library list' prints, and those of 'library pick --json' if this program may read the \
            asset.
            """
    )

    @OptionGroup var bus: BusOptions

    @Argument(help: ArgumentHelp("The asset's id.", valueName: "id"))
    var id: String

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let number = try AssetNumber.parse([id])[0]
        let asset = try await LibraryRun.reading(bus) { library throws(CaptureError) in
            do throws(CaptureError) {
                return try await library.asset(try await AssetFinder.id(of: number, in: library))
            } catch  where error.code == .noSuchAsset {
                try await LibraryRun.tellStatus(of: library)
                throw error
            }
        }
        if json {
            Output.print(LibraryPresentation.json(asset))
        } else {
            Output.print(LibraryPresentation.text(asset))
        }
    }
}
