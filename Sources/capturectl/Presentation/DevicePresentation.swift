import CaptureKit

/// Devices as rows and as JSON.
enum DevicePresentation {
    static func table(_ devices: [DeviceDescription]) -> Table {
        var table = Table(["KIND", .name("ID"), .text("NAME"), .optional("ALSO"), .detail("DRIVER")])
        for device in devices {
            table.add([
                kind(device), device.id.rawValue, device.name, device.aliases.joined(separator: " "), device.driver,
            ])
        }
        return table
    }

    static func json(_ device: DeviceDescription) -> JSON {
        [
            "id": JSON(device.id.rawValue), "kind": JSON(kind(device)), "name": JSON(device.name),
            "aliases": .array(device.aliases.map { JSON($0) }), "driver": JSON(device.driver), "bus": JSON(device.bus),
        ]
    }

    /// `camera` or `microphone`.
    static func kind(_ device: DeviceDescription) -> String {
        AuthorizationService(device.mediaType).rawValue
    }
}
