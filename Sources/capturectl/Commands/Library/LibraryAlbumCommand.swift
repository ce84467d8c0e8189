import ArgumentParser
import CaptureKit

struct LibraryAlbumCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "album",
        abstract: "Make albums, fill them, and take them away.",
        discussion: "An album is named by its name, or by its id where several have the same name.",
        subcommands: [
            AlbumListCommand.self, AlbumCreateCommand.self, AlbumRenameCommand.self, AlbumDeleteCommand.self,
            AlbumAddCommand.self, AlbumRemoveCommand.self, AlbumMoveCommand.self,
        ]
    )

    @OptionGroup var bus: BusOptions
}
