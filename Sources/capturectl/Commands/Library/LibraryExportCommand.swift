import ArgumentParser
import CaptureKit

struct LibraryExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write assets into a folder, as plain files by year and month.",
        discussion: """
            Beside each file is NAME.json with everything that is known about it, including its albums. An edited \
            asset also has its original, as in a.original.jpg. Existing files are never overwritten: if a name is \
            taken, the new file gets a number. Files of an earlier export are skipped, so an interrupted export can \
            continue. If an asset's own name ends in .json, the export appends a _, and an import removes it again. \
            If an edit cannot be read, only the original is written, and the command fails in the end. Months are in \
            UTC. 'library import' reads everything back; the bin is left out.

            A raw photo may have a JPEG of the same picture inside. With --with-jpeg it is also written beside the \
            photo, as in a.jpg beside a.dng. If an earlier export left the JPEG out, it is added, and a.dng.json then \
            names it. In the same way, --with-movie writes the movie of a live photo, as in a.mp4 beside a.jpg. An import \
            takes both back as one asset.
            """
    )

    @OptionGroup var bus: BusOptions

    @Flag(help: "Everything, including empty albums.")
    var all = false

    @Flag(help: "Also write the JPEG that is inside a raw photo, beside it.")
    var withJpeg = false

    @Flag(help: "Also write the movie that is inside a live photo, beside it.")
    var withMovie = false

    @Argument(
        help: ArgumentHelp("The assets' ids, unless --all is given, and the folder.", valueName: "id ... folder"),
        completion: .directory
    )
    var words: [String]

    func validate() throws {
        if all, words.count != 1 { throw ValidationError("with --all, give only the folder") }
        if !all, words.count < 2 { throw ValidationError("give the ids of assets, or --all, and then a folder") }
    }

    func run() async throws {
        let folder = words[words.count - 1]
        guard !folder.isEmpty else { throw CaptureError(.usage, "the folder's name is empty") }
        let numbers = try AssetNumber.parse(words.dropLast())
        let summary = try await LibraryRun.during(bus) { library throws(CaptureError) in
            try await LibraryRun.confirmAllowed(library)
            let parts: [InnerPart] = (withJpeg ? [.jpeg] : []) + (withMovie ? [.movie] : [])
            let export = try await LibraryExport(of: library, to: folder, with: parts)
            if all {
                // A copy of the chosen assets is not a copy of the library.
                try await LibraryRun.tellStatus(of: library)
                return try await export.all()
            }
            return try await export.assets(try await AssetFinder.ids(of: numbers, in: library))
        }
        Output.note(summary.text)
        if let failure = summary.failure { throw failure }
    }
}
