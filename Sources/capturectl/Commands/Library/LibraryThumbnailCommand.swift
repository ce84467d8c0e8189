import ArgumentParser
import CaptureKit

struct LibraryThumbnailCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "thumbnail",
        abstract: "Write a small JPEG picture of an asset."
    )

    @OptionGroup var bus: BusOptions

    @Option(help: ArgumentHelp("small, medium or large: 256, 1024 or 2048 pixels at most.", valueName: "size"))
    var size: ThumbnailSize = .small

    @Flag(name: [.customShort("y"), .long], help: .overwriting)
    var overwrite = false

    @Argument(help: ArgumentHelp("The asset's id.", valueName: "id"))
    var id: String

    @Argument(help: ArgumentHelp("The file to write.", valueName: "file"), completion: .file())
    var file: String

    func run() async throws {
        let number = try AssetNumber.parse([id])[0]
        let file = try await Destination.open(self.file, overwrite: overwrite)
        try await LibraryRun.reading(bus) { library throws(CaptureError) in
            do throws(CaptureError) {
                let id = try await AssetFinder.id(of: number, in: library)
                _ = try FileCopy.copy(try await library.thumbnail(of: id, size: size), to: file.descriptor)
            } catch  where error.code == .noSuchAsset {
                try await LibraryRun.tellStatus(of: library)
                throw error
            }
        }
        try file.keep()
    }
}
