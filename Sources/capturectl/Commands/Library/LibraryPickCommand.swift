import ArgumentParser
import CaptureKit
import Glibc

struct LibraryPickCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pick",
        abstract: "Pick assets from a list, and copy them into a folder.",
        discussion: """
            This terminal lists the whole library; without a terminal, the agent of your session does. Needs no \
            consent: this program gets only what you pick, and may read no more than before. Existing files are not \
            replaced; the new file gets a number. Prints the files.
            """
    )

    @OptionGroup var bus: BusOptions

    @OptionGroup var pictures: PictureOptions

    @Option(help: ArgumentHelp("Only this kind: photo, movie or sound. Can be repeated.", valueName: "kind"))
    var kind: [MediaAssetKind] = []

    @Option(help: ArgumentHelp("How many you may pick, 1 to 1000.", valueName: "number"))
    var limit = 1000

    @Option(
        name: .customLong("to"),
        parsing: .unconditional,
        help: ArgumentHelp("The folder to copy them into; created if needed.", valueName: "folder"),
        completion: .directory
    )
    var folder = "."

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        guard (1...1000).contains(limit) else {
            throw CaptureError(.usage, "--limit is \(limit); it must be 1 to 1000")
        }
        if folder.isEmpty { throw CaptureError(.usage, "--to is empty; give a folder, or leave it out") }
        try await LibraryRun.during(bus, pictures: pictures.pictures) { library throws(CaptureError) in
            // Before the person takes the trouble.
            try MediaFolder.checkPlace(folder)
            let picked = try await library.pick(Set(kind), limit: limit)
            try MediaFolder.make(folder)
            var rows: [JSON] = []
            for content in picked {
                let path = try PickedFile.copy(try await content.open(), named: content.name, into: folder)
                // A program that reads them needs them as they are.
                if !json { Output.print(isatty(STDOUT_FILENO) == 1 ? Printable.text(path, limit: 1000) : path) }
                rows.append([
                    "file": JSON(path), "name": JSON(content.name), "kind": JSON(content.kind.rawValue),
                    "mediaType": JSON(content.mediaType), "size": JSON(content.size), "id": JSON(content.assetID),
                ])
            }
            try MediaFolder.sync(folder)
            if json { Output.print(JSON.array(rows)) }
        }
    }
}

/// A content that was picked, as a file.
enum PickedFile {
    /// Copies it under its name, or with a number behind that where there is such a file.
    ///
    /// - Returns: The path.
    static func copy(_ content: Descriptor, named name: String, into folder: String) throws(CaptureError) -> String {
        var attempt = 1
        while true {
            let path = (folder == "/" ? "" : folder) + "/" + PickedFile.name(name, attempt)
            if MediaFolder.kind(of: path) == nil {
                _ = try MediaFolder.copy(content, to: path)
                return path
            }
            attempt += 1
        }
    }

    /// An asset's name as a file can have it in any folder, and with all that is put behind it.
    static func name(_ name: String, _ attempt: Int) -> String {
        let scalars = name.unicodeScalars.map { $0 == "/" || $0.value == 0 ? "_" : $0 }
        var whole = String(String.UnicodeScalarView(scalars))
        if whole.isEmpty || whole == "." || whole == ".." { whole = "picked" }
        let suffix = attempt == 1 ? "" : " (\(attempt))"
        let dot = whole.lastIndex(of: ".").flatMap { $0 == whole.startIndex ? nil : $0 } ?? whole.endIndex
        let ending = whole[dot...].utf8.count > 100 ? "" : String(whole[dot...])
        var stem = ending.isEmpty ? whole : String(whole[..<dot])
        while stem.utf8.count + suffix.utf8.count + ending.utf8.count > 255, !stem.isEmpty { stem.removeLast() }
        return stem + suffix + ending
    }
}
