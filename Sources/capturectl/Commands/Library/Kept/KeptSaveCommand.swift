import ArgumentParser
import CaptureKit

struct KeptSaveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "save",
        abstract: "Save kept recordings into the media library, and into the albums that they were meant for.",
        discussion: """
            You are asked to confirm this, on this terminal or on the desktop. The quota of the program that recorded \
            them does not matter here. Prints the assets' ids if capturectl may read the library.
            """
    )

    @OptionGroup var bus: BusOptions

    @Argument(help: ArgumentHelp("The recordings' ids.", valueName: "id"))
    var ids: [String]

    func run() async throws {
        let numbers = try AssetNumber.parse(ids, of: "recording", listedBy: "library kept", atMost: AssetNumber.most)
        try await LibraryRun.during(bus) { library throws(CaptureError) in
            var fault: CaptureError?
            for outcome in try await library.saveKept(try await KeptFinder.ids(numbers, in: library)) {
                switch outcome.result {
                case .success(let saved): tell(saved, of: outcome.id)
                case .failure(let error):
                    if let fault { Output.message(Printable.text(fault.message, limit: 1000)) }
                    fault = CaptureError(error.code, "\(outcome.id) was not saved, and is still kept: \(error.message)")
                }
            }
            // The last one is told as the command's own end.
            if let fault { throw fault }
        }
    }

    private func tell(_ saved: SavedOutput, of id: KeptRecording.ID) {
        if let asset = saved.asset { Output.print(asset) }
        let album = saved.album.map { ", in the album '\(Printable.text($0))'" } ?? ""
        Output.note("\(id) saved into the media library\(album)")
        if let remark = saved.remark { Output.message(Printable.text(remark, limit: 1000)) }
    }
}
