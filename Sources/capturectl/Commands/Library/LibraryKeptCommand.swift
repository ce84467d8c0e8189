import ArgumentParser
import CaptureKit

struct LibraryKeptCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kept",
        abstract: "Recordings that could not be saved: save them after all, or discard them.",
        discussion: """
            A recording for the library is kept when the consent to save it was withdrawn meanwhile, when there was no \
            room, or when captured ended before it did. It waits here until you decide.
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
                    "no recording \(number.digits) waits; 'library kept' lists those that do"
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
