import ArgumentParser
import CaptureKit

struct KeptListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List them, the oldest first, and why they were not saved."
    )

    @OptionGroup var bus: BusOptions

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let kept = try await LibraryRun.during(bus) { library throws(CaptureError) in
            try await library.keptRecordings()
        }
        if json { return Output.print(JSON.array(kept.map(SavedPresentation.json))) }
        Output.print(SavedPresentation.table(kept))
        if kept.isEmpty { Output.note("no recording waits") }
    }
}
