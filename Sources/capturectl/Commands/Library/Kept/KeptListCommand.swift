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
        if table.json { return Output.print(JSON.array(kept.map(SavedPresentation.json))) }
        Output.print(SavedPresentation.table(kept), isWide: table.wide)
        if kept.isEmpty { Output.note("no recording is waiting") }
    }
}
