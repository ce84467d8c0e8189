import ArgumentParser
import CaptureKit

struct LibraryKeptCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kept",
        abstract: "Save or discard recordings that could not be saved before.",
        discussion: """
            A recording for the library is kept here if the consent to save it was withdrawn meanwhile, if there was \
            no room, or if captured ended first. It waits until you decide.
            """,
        subcommands: [KeptListCommand.self, KeptSaveCommand.self, KeptDiscardCommand.self],
        defaultSubcommand: KeptListCommand.self
    )

    @OptionGroup var bus: BusOptions
}

/// Finds kept recordings of ids that are shortened.
enum KeptFinder {
    /// Whole ids in the order of the numbers, each once.
    ///
    /// - Throws: `noSuchAsset` for a number that no recording begins with; `usage` for one that several do.
    static func ids(_ numbers: [AssetNumber], in library: MediaLibrary) async throws(CaptureError) -> [KeptRecording.ID]
    {
        let kept = try await library.keptRecordings().map(\.id)
        var ids: [KeptRecording.ID] = []
        for number in numbers {
            let found = kept.filter { $0.hasPrefix(number.digits) }
            guard let id = found.first else {
                throw CaptureError(
                    .noSuchAsset,
                    "no recording \(number.digits) waits; 'library kept' lists all that do"
                )
            }
            guard found.count == 1 else {
                throw CaptureError(.usage, "\(found.count) recordings begin with \(number.digits); give more digits")
            }
            if !ids.contains(id) { ids.append(id) }
        }
        return ids
    }
}
