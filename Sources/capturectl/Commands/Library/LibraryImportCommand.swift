import ArgumentParser
import CaptureKit

struct LibraryImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Add every photo, movie and sound file of a folder, with the facts from 'library export'.",
        discussion: """
            Files without a NAME.json are added as they are. Edits and albums are restored; albums are filled in their \
            order once all files are there. If an asset was exported again after a change, only the latest version is \
            added. If capturectl may read the library, it skips files that the library already has, with the same \
            name and content. An interrupted import can therefore continue. Everything counts as added by capturectl, \
            now; which program made it, and when it was added and changed, stays in the export. A broken file does not \
            stop the others: failures are listed at the end, with exit code 65. Symbolic links and hidden files are \
            left out.
            """
    )

    @OptionGroup var bus: BusOptions

    @Flag(help: "Also add files that are already there.")
    var duplicates = false

    @Flag(help: "Print the result as JSON.")
    var json = false

    @Argument(help: ArgumentHelp("The folder.", valueName: "folder"), completion: .directory)
    var folder: String

    func run() async throws {
        let plan = try ImportPlan(of: folder)
        let summary = try await LibraryRun.during(bus) { library throws(CaptureError) in
            try await LibraryImporting(to: library, plan, addsTwins: duplicates).run()
        }
        if json { Output.print(summary.json) }
        Output.note(summary.text)
        if let failure = summary.failure { throw failure }
    }
}
