import ArgumentParser
import CaptureKit

struct LibraryEditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Replace an asset's content; its original is kept."
    )

    @OptionGroup var bus: BusOptions

    @Argument(help: ArgumentHelp("The asset's id.", valueName: "id"))
    var id: String

    @Argument(
        help: ArgumentHelp("A file of the same kind: a photo for a photo.", valueName: "file"),
        completion: .file()
    )
    var file: String

    func run() async throws {
        let number = try AssetNumber.parse([id])[0]
        let file = try MediaSourceFile.open(self.file)
        try await LibraryRun.changing(bus) { library throws(CaptureError) in
            let id = try await AssetFinder.id(of: number, in: library)
            let edit = try await library.beginEditing(id, with: file)
            try await ImportProgress.follow(edit, named: self.file)
        }
    }
}
