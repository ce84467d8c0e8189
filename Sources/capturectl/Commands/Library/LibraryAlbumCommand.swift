import ArgumentParser
import CaptureKit

struct LibraryAlbumCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "album",
        abstract: "Create, fill and delete albums.",
        discussion: "Name an album by its name, or by its id if several have the same name.",
        subcommands: [
            AlbumListCommand.self, AlbumCreateCommand.self, AlbumRenameCommand.self, AlbumDeleteCommand.self,
            AlbumAddCommand.self, AlbumRemoveCommand.self, AlbumMoveCommand.self,
        ]
    )

    @OptionGroup var bus: BusOptions
}
