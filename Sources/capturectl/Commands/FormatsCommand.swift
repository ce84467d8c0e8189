import ArgumentParser
import CaptureKit
import Glibc

struct FormatsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "formats",
        abstract: "List what devices deliver.",
        discussion:
            "On a terminal, sizes with the same rates share a line; with --wide, and elsewhere, each has its own."
    )

    @OptionGroup var bus: BusOptions

    @Argument(help: ArgumentHelp("A device's id. (default: all devices)", valueName: "device"), completion: .devices)
    var device: String?

    @OptionGroup var table: TableOptions

    func run() async throws {
        try InputOptions.check(device, "the device's id")
        let daemon = try await bus.connect()
        let devices =
            if let device {
                [try await CaptureDevice.device(withID: device, on: daemon).description]
            } else {
                try await CaptureDevice.devices(on: daemon).map(\.description)
            }
        if table.json { return Output.print(JSON.array(devices.map(FormatPresentation.json))) }
        let width = table.wide ? nil : TerminalSize.width(of: STDOUT_FILENO)
        Output.print(devices.map { FormatPresentation.text($0, width: width) }.joined(separator: "\n"))
    }
}
