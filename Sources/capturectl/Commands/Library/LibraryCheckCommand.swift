import ArgumentParser
import CaptureKit

struct LibraryCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Compare the library's index with the contents of its files.",
        discussion: "Exits with 65 if something is wrong. A large library takes minutes."
    )

    @OptionGroup var bus: BusOptions

    @OptionGroup var table: TableOptions

    func run() async throws {
        let faults = try await LibraryRun.changing(bus) { library throws(CaptureError) in try await library.check() }
        table.show(faults, LibraryPresentation.table, LibraryPresentation.json)
        if !faults.isEmpty {
            throw CaptureError(
                .badData,
                "\(Quantities.count(faults.count, "fault")) in the library; 'library repair' repairs what it can"
            )
        }
        Output.note("nothing is wrong with the library")
    }
}
