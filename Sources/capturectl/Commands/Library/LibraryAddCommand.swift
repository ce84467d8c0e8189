import ArgumentParser
import CaptureKit

struct LibraryAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add photos, movies and sound files; the files themselves stay where they are.",
        discussion: """
            Each file is checked by its content and added completely or not at all. Prints the ids if this program may \
            also read the library.
            """
    )

    @OptionGroup var bus: BusOptions

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Put them into this album, by name or id.", valueName: "album"),
        completion: .albums
    )
    var album: String?

    @Option(parsing: .unconditional, help: ArgumentHelp("Its name in the library, for one file.", valueName: "name"))
    var name: String?

    @Flag(help: "Print the result for each file as JSON.")
    var json = false

    @Argument(help: ArgumentHelp("The files.", valueName: "file"), completion: .file())
    var files: [String]

    func validate() throws {
        if name != nil, files.count > 1 { throw ValidationError("--name only goes with one file") }
    }

    func run() async throws {
        try AlbumFinder.check(album, "--album")
        if name?.isEmpty == true { throw CaptureError(.usage, "--name is empty; give a file's name, or leave it out") }
        if let empty = files.firstIndex(of: "") { throw CaptureError(.usage, "the name of file \(empty + 1) is empty") }
        try await LibraryRun.during(bus) { library throws(CaptureError) in try await add(to: library) }
    }

    private func add(to library: MediaLibrary) async throws(CaptureError) {
        var facts = AssetFacts()
        if let album {
            try await LibraryRun.confirmAllowed(library, "--album: ")
            facts.album = try await AlbumFinder.album(album, in: library).id
        }
        var failure: CaptureError?
        var rows: [JSON] = []
        for path in files {
            do throws(CaptureError) {
                facts.name = name ?? MediaSourceFile.name(of: path)
                let adding = try await library.beginAdding(try MediaSourceFile.open(path), facts)
                let (id, albumError) = try await ImportProgress.follow(adding, named: path)
                if let id, !json { Output.print(id) }
                Output.note("\(Printable.text(path)) added")
                rows.append(["file": JSON(path), "id": JSON(id), "error": JSON(albumError?.message)])
                if let albumError {
                    // The album is gone for the files that follow as well, or what it takes to use it.
                    failure = failure ?? albumError
                    break
                }
            } catch {
                // What one file lacks the next may have; what the person or the daemon refuses is refused to all.
                let isLast = MediaSourceFile.endsAll(error) || files.count == 1
                if files.count > 1 {
                    Output.message("\(Printable.text(path)): \(Printable.text(error.message, limit: 1000))")
                }
                rows.append(["file": JSON(path), "id": .null, "error": JSON(error.message)])
                failure = failure ?? error
                if isLast { break }
            }
        }
        if json { Output.print(JSON.array(rows)) }
        guard let failure else { return }
        if files.count == 1 { throw failure }
        let added = rows.filter { $0["error"] == .null }.count
        throw CaptureError(failure.code, "\(added) of \(files.count) files added: \(failure.message)")
    }
}
