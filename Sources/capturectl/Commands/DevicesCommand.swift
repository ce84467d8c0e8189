import ArgumentParser
import CaptureKit

struct DevicesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "devices",
        abstract: "List cameras and microphones.",
        discussion: "Ids stay the same after a reboot and in the same port. /dev/videoN and hw:CARD,DEV work, too."
    )

    @OptionGroup var bus: BusOptions

    @OptionGroup var table: TableOptions

    func run() async throws {
        let devices = try await CaptureDevice.devices(on: try await bus.connect()).map(\.description)
        if table.json { return Output.print(JSON.array(devices.map(DevicePresentation.json))) }
        if devices.isEmpty { return Output.note("there is no camera and no microphone") }
        Output.print(DevicePresentation.table(devices), isWide: table.wide)
    }
}
