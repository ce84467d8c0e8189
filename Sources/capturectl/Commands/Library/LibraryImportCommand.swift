import ArgumentParser
import CaptureKit

struct LibraryImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Add every photo, movie and sound file of a folder, with what 'library export' wrote beside them.",
        discussion: """
            Files without a NAME.json are added as they are. Edits are made again, albums too: these are filled in their \
            order when all files are there. Of an asset that was exported again after a change, the latest version alone \
            is added. What is in the library already, by name and content, is not added once more as far as capturectl \
            may read it, so that an import that was broken off goes on. All of it counts as added by capturectl, now: which \
            program made it, and when it was added and changed there, stays in the export. A file that is broken does \
            not stop the others: all that failed is told at the end, with exit code 65. Symbolic links and hidden files \
            are left out.
            """
    )

    @OptionGroup var bus: BusOptions

    @Flag(help: "Add what is there already once more.")
    var duplicates = false

    @Flag(help: "Print what came of it as JSON.")
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
