import ArgumentParser
import CaptureKit

struct LibraryRepairCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "repair",
        abstract: "Mend what 'library check' finds.",
        discussion: """
            Files that are damaged or belong to nothing are set aside, never deleted; assets without a content go to the \
            bin.
            """
    )

    @OptionGroup var bus: BusOptions

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let faults = try await LibraryRun.changing(bus) { library throws(CaptureError) in try await library.repair() }
        LibraryFaults.print(faults, json: json)
        Output.note(faults.isEmpty ? "nothing was wrong" : "\(Quantities.count(faults.count, "fault")) mended")
    }
}
