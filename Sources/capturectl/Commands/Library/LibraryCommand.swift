import ArgumentParser
import CaptureKit

struct LibraryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "library",
        abstract: "The media library: look, add, change, take out and put back.",
        discussion: """
            Adding and reading have each a consent of their own, asked for on this terminal where it was never decided. \
            Assets are named by their ids as 'library list' prints them; the first digits will do, 6 at least, where no \
            other asset begins so.
            """,
        groupedSubcommands: [
            CommandGroup(
                name: "Looking",
                subcommands: [
                    LibraryStatusCommand.self, LibraryListCommand.self, LibraryCountCommand.self,
                    LibraryShowCommand.self, LibraryThumbnailCommand.self, LibraryChangesCommand.self,
                    LibraryPickCommand.self,
                ]
            ),
            CommandGroup(
                name: "Changing",
                subcommands: [
                    LibraryAddCommand.self, LibraryEditCommand.self, LibraryRevertCommand.self,
                    LibraryFavouriteCommand.self, LibraryDeleteCommand.self, LibraryRestoreCommand.self,
                    LibraryEmptyCommand.self,
                    LibraryAlbumCommand.self, LibraryChooseCommand.self, LibraryKeptCommand.self,
                ]
            ),
            CommandGroup(
                name: "The Whole",
                subcommands: [
                    LibraryExportCommand.self, LibraryImportCommand.self, LibraryCheckCommand.self,
                    LibraryRepairCommand.self,
                ]
            ),
        ]
    )

    @OptionGroup var bus: BusOptions
}
