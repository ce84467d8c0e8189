import ArgumentParser
import CaptureKit

struct LibraryCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Compare the library's index with its files, each by its content.",
        discussion: "Exit code 65 when something is wrong. Of a large library it takes minutes."
    )

    @OptionGroup var bus: BusOptions

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let faults = try await LibraryRun.changing(bus) { library throws(CaptureError) in try await library.check() }
        LibraryFaults.print(faults, json: json)
        if !faults.isEmpty {
            throw CaptureError(
                .badData,
                "\(Quantities.count(faults.count, "fault")) in the library; 'library repair' mends what can be mended"
            )
        }
        Output.note("nothing is wrong with the library")
    }
}

/// Faults on standard output.
enum LibraryFaults {
    static func print(_ faults: [LibraryFault], json: Bool) {
        if json {
            Output.print(JSON.array(faults.map(LibraryPresentation.json)))
        } else {
            Output.print(LibraryPresentation.table(faults))
        }
    }
}
