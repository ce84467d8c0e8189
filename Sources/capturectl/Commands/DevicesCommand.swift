import ArgumentParser
import CaptureKit

struct DevicesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "devices",
        abstract: "List cameras and microphones.",
        discussion: "Ids are the same after a reboot and in the same port; /dev/videoN and hw:CARD,DEV serve too."
    )

    @OptionGroup var bus: BusOptions

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let devices = try await CaptureDevice.devices(on: try await bus.connect()).map(\.description)
        if json { return Output.print(JSON.array(devices.map(DevicePresentation.json))) }
        if devices.isEmpty { return Output.note("no camera and no microphone is there") }
        Output.print(DevicePresentation.table(devices))
    }
}
