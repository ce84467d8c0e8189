import ArgumentParser
import CaptureKit

struct KeptListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List kept recordings, the oldest first, and why they were not saved."
    )

    @OptionGroup var bus: BusOptions

    @OptionGroup var table: TableOptions

    func run() async throws {
        let kept = try await LibraryRun.during(bus) { library throws(CaptureError) in
            try await library.keptRecordings()
        }
        table.show(kept, SavedPresentation.table, SavedPresentation.json)
        if kept.isEmpty, !table.json { Output.note("no recording is waiting") }
    }
}
