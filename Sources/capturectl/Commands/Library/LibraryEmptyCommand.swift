import ArgumentParser
import CaptureKit

struct LibraryEmptyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "empty",
        abstract: "Erase what is in the bin for good, before its time.",
        discussion: """
            You are asked to confirm it, on this terminal or on the desktop. Until then what is in the bin counts as kept: \
            against quotas and the disk. 'library list --bin' shows what it is.
            """
    )

    @OptionGroup var bus: BusOptions

    func run() async throws {
        let count = try await LibraryRun.during(bus) { library throws(CaptureError) in try await library.emptyBin() }
        Output.note(count == 0 ? "nothing is in the bin" : "\(Quantities.count(count, "asset")) erased")
    }
}
