import ArgumentParser
import CaptureKit

struct LibraryEmptyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "empty",
        abstract: "Erase everything in the bin for good, now.",
        discussion: """
            You are asked to confirm this, on this terminal or on the desktop. Until then, the bin takes disk space \
            and counts against quotas. 'library list --bin' shows what is in it.
            """
    )

    @OptionGroup var bus: BusOptions

    func run() async throws {
        let count = try await LibraryRun.during(bus) { library throws(CaptureError) in try await library.emptyBin() }
        Output.note(count == 0 ? "the bin is empty" : "\(Quantities.count(count, "asset")) erased")
    }
}
