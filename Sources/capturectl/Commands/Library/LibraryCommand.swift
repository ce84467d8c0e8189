import ArgumentParser
import CaptureKit

struct LibraryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "library",
        abstract: "Use the media library: list, add, change, export and import.",
        discussion: """
            Adding and reading each need their own consent; this terminal asks if that was never decided. Name assets \
            by their ids, as 'library list' prints them. The first digits are enough, at least 6, if no other asset \
            begins with them.
            """,
        groupedSubcommands: [
            CommandGroup(
                name: "Reading",
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
                name: "Whole Library",
                subcommands: [
                    LibraryExportCommand.self, LibraryImportCommand.self, LibraryCheckCommand.self,
                    LibraryRepairCommand.self,
                ]
            ),
        ]
    )

    @OptionGroup var bus: BusOptions
}
