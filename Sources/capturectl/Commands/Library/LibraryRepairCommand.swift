import ArgumentParser
import CaptureKit

struct LibraryRepairCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "repair",
        abstract: "Repair what 'library check' finds.",
        discussion: """
            Files that are damaged or belong to no asset are set aside, never deleted. Assets without content go to \
            the bin. Exits with 65 if something could not be repaired.
            """
    )

    @OptionGroup var bus: BusOptions

    @OptionGroup var table: TableOptions

    func run() async throws {
        let faults = try await LibraryRun.changing(bus) { library throws(CaptureError) in try await library.repair() }
        table.show(faults, LibraryPresentation.table, LibraryPresentation.json)
        let left = faults.count(where: \.isLeft)
        if left > 0 {
            throw CaptureError(
                .badData,
                "\(Quantities.count(left, "fault")) of \(faults.count) could not be repaired; the table says why"
            )
        }
        Output.note(faults.isEmpty ? "nothing was wrong" : "\(Quantities.count(faults.count, "fault")) repaired")
    }
}
