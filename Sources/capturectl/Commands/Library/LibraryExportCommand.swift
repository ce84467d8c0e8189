import ArgumentParser
import CaptureKit

struct LibraryExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write assets into a folder, as plain files by year and month.",
        discussion: """
            Beside each file stands NAME.json with everything that is known of it, its albums included; of an edited one \
            its original too, as in a.original.jpg. Nothing that is there is ever written over: what has the name already \
            gets a number behind it, and what an export before wrote is skipped, so that one that was interrupted goes \
            on. A name that ends in .json, as those of facts do, gets a _ behind it here, and not in the library that it \
            is imported to. Of an asset whose edit cannot be read the original is written alone; the exit code is that \
            of a failure then. Months are those of UTC. 'library import' reads it all back; what is in the bin is left out.
            """
    )

    @OptionGroup var bus: BusOptions

    @Flag(help: "Everything, with albums that are empty too.")
    var all = false

    @Argument(
        help: ArgumentHelp("The assets' ids, unless --all is given, and the folder.", valueName: "id ... folder"),
        completion: .directory
    )
    var words: [String]

    func validate() throws {
        if all, words.count != 1 { throw ValidationError("with --all give the folder alone") }
        if !all, words.count < 2 { throw ValidationError("give the ids of assets, or --all, and then a folder") }
    }

    func run() async throws {
        let folder = words[words.count - 1]
        guard !folder.isEmpty else { throw CaptureError(.usage, "the folder's name is empty") }
        let numbers = try AssetNumber.parse(words.dropLast())
        let summary = try await LibraryRun.during(bus) { library throws(CaptureError) in
            try await LibraryRun.confirmAllowed(library)
            let export = try await LibraryExport(of: library, to: folder)
            if all { return try await export.all() }
            return try await export.assets(try await AssetFinder.ids(of: numbers, in: library))
        }
        Output.note(summary.text)
        if let failure = summary.failure { throw failure }
    }
}
