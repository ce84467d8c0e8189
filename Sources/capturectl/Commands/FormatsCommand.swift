import ArgumentParser
import CaptureKit

struct FormatsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "formats",
        abstract: "List what devices deliver."
    )

    @OptionGroup var bus: BusOptions

    @Argument(help: ArgumentHelp("A device's id; all devices without it.", valueName: "device"))
    var device: String?

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        try InputOptions.check(device, "the device's id")
        let daemon = try await bus.connect()
        let devices =
            if let device {
                [try await CaptureDevice.device(withID: device, on: daemon).description]
            } else {
                try await CaptureDevice.devices(on: daemon).map(\.description)
            }
        if json { return Output.print(JSON.array(devices.map(FormatPresentation.json))) }
        Output.print(devices.map(FormatPresentation.text).joined(separator: "\n"))
    }
}
