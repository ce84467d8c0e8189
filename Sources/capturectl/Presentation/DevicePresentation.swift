import CaptureKit

/// Devices as rows and as JSON.
enum DevicePresentation {
    /// - Parameter used: The devices that are in use.
    static func table(_ devices: [DeviceDescription], used: Set<String> = []) -> Table {
        var table = Table([
            "KIND", .name("ID"), .text("NAME"), .optional("USE"), .optional("TYPE"), .optional("ALSO"),
            .detail("POSITION"), .detail("DRIVER"),
        ])
        for device in devices {
            table.add([
                kind(device), device.id.rawValue, device.name, used.contains(device.id.rawValue) ? "in use" : "",
                device.deviceType.rawValue, device.aliases.joined(separator: " "),
                device.position == .unspecified ? "" : device.position.rawValue, device.driver,
            ])
        }
        return table
    }

    static func json(_ device: DeviceDescription) -> JSON { .object(members(of: device)) }

    /// With whether it is in use.
    static func json(_ device: DeviceDescription, used: Set<String>) -> JSON {
        .object(members(of: device) + [JSON.Member(key: "inUse", value: .bool(used.contains(device.id.rawValue)))])
    }

    private static func members(of device: DeviceDescription) -> [JSON.Member] {
        [
            ("id", JSON(device.id.rawValue)), ("kind", JSON(kind(device))), ("name", JSON(device.name)),
            ("type", JSON(device.deviceType.rawValue)), ("position", JSON(device.position.rawValue)),
            ("aliases", .array(device.aliases.map { JSON($0) })), ("driver", JSON(device.driver)),
            ("bus", JSON(device.bus)),
        ].map { JSON.Member(key: $0, value: $1) }
    }

    /// `camera` or `microphone`.
    static func kind(_ device: DeviceDescription) -> String {
        AuthorizationService(device.mediaType).rawValue
    }
}
