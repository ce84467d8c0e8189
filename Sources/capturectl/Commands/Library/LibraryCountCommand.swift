import ArgumentParser
import CaptureKit

struct LibraryCountCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "count",
        abstract: "Print how many assets there are."
    )

    @OptionGroup var bus: BusOptions

    @OptionGroup var assets: AssetFilterOptions

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        _ = try assets.filter()
        let count = try await LibraryRun.reading(bus) { library throws(CaptureError) -> UInt64 in
            let options = try await assets.filter(in: library)
            let count = if let options { try await library.count(options) } else { UInt64(0) }
            try await LibraryRun.tellStatus(of: library)
            return count
        }
        if json { Output.print(["count": JSON(count)] as JSON) } else { Output.print("\(count)") }
    }
}
