import ArgumentParser
import CaptureKit

struct LibraryStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show what this program may do with the media library; never asks."
    )

    @OptionGroup var bus: BusOptions

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let library = MediaLibrary(on: try await bus.connect())
        let add = try await library.authorizationStatus(for: .addOnly)
        let read = try await library.authorizationStatus(for: .readWrite)
        let plain = try await library.authorizationStatus()
        if json {
            return Output.print(
                ["addOnly": JSON(add.word), "readWrite": JSON(read.word), "withoutLevel": JSON(plain.word)] as JSON
            )
        }
        Output.print("add-only       \(add.word)\nread-write     \(read.word)\nwithout level  \(plain.word)")
    }
}
