import CaptureKit

/// Devices as rows and as JSON.
enum DevicePresentation {
    /// - Parameter used: The devices that are in use.
    static func table(_ devices: [DeviceDescription], used: Set<String> = []) -> Table {
        var table = Table([
            "KIND", .name("ID"), .text("NAME"), .optional("USE"), .optional("TYPE"), .optional("ALSO"),
            .detail("POSITION"), .detail("DRIVER"), .detail("METADATA"),
        ])
        for device in devices {
            table.add([
                device.isDepthCamera ? "depth camera" : kind(device), device.id.rawValue, device.name,
                used.contains(device.id.rawValue) ? "in use" : "",
                device.deviceType.rawValue, device.aliases.joined(separator: " "),
                device.position == .unspecified ? "" : device.position.rawValue, device.driver,
                formats(of: device).joined(separator: " "),
            ])
        }
        return table
    }

    static func json(_ device: DeviceDescription) -> JSON {
        [
            "id": JSON(device.id.rawValue), "kind": JSON(kind(device)), "name": JSON(device.name),
            "type": JSON(device.deviceType.rawValue), "position": JSON(device.position.rawValue),
            "aliases": .array(device.aliases.map { JSON($0) }), "driver": JSON(device.driver),
            "bus": JSON(device.bus), "hasDepth": JSON(!device.depthFormats.isEmpty),
            "metadata": device.metadata == nil ? .null : .array(formats(of: device).map { JSON($0) }),
        ]
    }

    /// With whether it is in use.
    static func json(_ device: DeviceDescription, used: Set<String>) -> JSON {
        json(device).with(["inUse": JSON(used.contains(device.id.rawValue))])
    }

    /// The formats of a camera's metadata.
    private static func formats(of device: DeviceDescription) -> [String] {
        device.metadata?.formats.map(\.description) ?? []
    }

    /// `camera` or `microphone`.
    static func kind(_ device: DeviceDescription) -> String {
        AuthorizationService(device.mediaType).rawValue
    }
}
