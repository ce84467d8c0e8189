import ArgumentParser
import CaptureKit

struct KeptSaveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "save",
        abstract: "Take them into the media library, and into the albums that they were meant for.",
        discussion: "Prints the assets' ids, where capturectl may read the library."
    )

    @OptionGroup var bus: BusOptions

    @Argument(help: ArgumentHelp("The recordings' ids.", valueName: "id"))
    var ids: [String]

    func run() async throws {
        let numbers = try AssetNumber.parse(ids)
        try await LibraryRun.during(bus) { library throws(CaptureError) in
            for id in try await KeptFinder.ids(numbers, in: library) {
                let saved = try await library.saveKept(id)
                if let asset = saved.asset { Output.print(asset) }
                let album = saved.album.map { ", in the album '\(Printable.text($0))'" } ?? ""
                Output.note("\(id) saved into the media library\(album)")
                if let remark = saved.remark { Output.message(Printable.text(remark, limit: 1000)) }
            }
        }
    }
}
