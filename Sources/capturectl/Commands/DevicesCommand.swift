public import ArgumentParser
public import CaptureKit

struct DevicesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "devices",
        abstract: "List cameras and microphones.",
        discussion: """
            Ids stay the same after a reboot and in the same port. /dev/videoN and hw:CARD,DEV work, too. 'in use' are \
            devices with which one of your programs captures.
            """
    )

    /// A kind of device.
    enum Kind: String, ExpressibleByArgument, CaseIterable {
        case camera
        case microphone

        var mediaType: MediaType { self == .camera ? .video : .audio }
    }

    @OptionGroup var bus: BusOptions

    @Option(help: ArgumentHelp("Only cameras or only microphones.", valueName: "kind"))
    var kind: Kind?

    @Option(help: ArgumentHelp("Only devices of this type.", valueName: "type"))
    var type: DeviceType?

    @Option(help: ArgumentHelp("Only devices in this position.", valueName: "position"))
    var position: DevicePosition?

    @OptionGroup var table: TableOptions

    func run() async throws {
        let daemon = try await bus.connect()
        let search = CaptureDevice.DiscoverySession(
            deviceTypes: type.map { [$0] } ?? DeviceType.allCases,
            mediaType: kind?.mediaType,
            position: position ?? .unspecified,
            on: daemon
        )
        let devices = try await search.devices.map(\.description)
        let used = Set(try await daemon.uses().filter { $0.phase == .live }.map(\.device))
        let isAny = kind == nil && type == nil && position == nil
        table.show(
            devices,
            { DevicePresentation.table($0, used: used) },
            { DevicePresentation.json($0, used: used) },
            ifNone: isAny ? "there is no camera and no microphone" : "no device matches --kind, --type and --position"
        )
    }
}

extension DeviceType: ExpressibleByArgument {}
extension DevicePosition: ExpressibleByArgument {}
