import CLinux
import CaptureCore
import CaptureSystem

/// How a device is attached, by what sysfs says of it and of what it hangs on. Reentrant.
struct DevicePlace: Hashable, Sendable {
    var type = DeviceType.builtIn
    var position = DevicePosition.unspecified
    /// The port of its USB bus, as `2` or, behind a hub, `2.1`.
    var port: String?

    /// Platform devices that have no hardware.
    private static let virtualDevices = ["vivid", "vimc", "snd_aloop", "snd_dummy"]

    /// A device of which nothing is known.
    init() {}

    /// Looks a device up.
    ///
    /// - Parameters:
    ///   - link: Where sysfs has it, as `/sys/class/sound/card0`.
    ///   - root: The folder below which devices are.
    init(at link: String, below root: String = "/sys/devices") {
        guard var folder = Files.resolved(link), folder.hasPrefix(root + "/") else { return }
        var (panel, removable): (String?, String?)
        let parts = folder.dropFirst(root.count + 1).split(separator: "/")
        let platform = parts.count > 1 && parts[0] == "platform" ? parts[1].split(separator: ".")[0] : ""
        while folder.count > root.count {
            panel = panel ?? Files.line(of: "\(folder)/physical_location/panel")
            port = port ?? Files.line(of: "\(folder)/devpath")
            removable = removable ?? Files.line(of: "\(folder)/removable")
            folder = String(folder[..<(folder.lastIndex(of: "/") ?? folder.startIndex)])
        }
        if parts.first == "virtual" || Self.virtualDevices.contains(String(platform)) {
            type = .virtual
        } else if removable == "removable" || (port != nil && removable != "fixed") {
            // A port of which the firmware says nothing is one that people plug into.
            (type, position) = (.external, .external)
        } else {
            // The panel of a device that is plugged in is that of its socket.
            position = panel.flatMap(DevicePosition.init) ?? .unspecified
        }
    }

    /// The same for a camera, which its driver and udev may know better.
    ///
    /// - Parameter direction: `UdevRecord.cameraDirection`.
    init(ofCamera node: V4L2Node, at link: String, direction: String?) {
        self.init(at: link)
        var input = clinux_v4l2_input()
        let isCable = unsafe clinux_v4l2_input(node.descriptor, &input) == 0 && input.is_cable != 0
        take(isCable: isCable, orientation: clinux_v4l2_orientation(node.descriptor), direction: direction)
    }

    /// Takes over what a camera's driver and udev say.
    ///
    /// - Parameters:
    ///   - isCable: Whether the picture comes by a cable.
    ///   - orientation: `V4L2_CAMERA_ORIENTATION_…`, or -1.
    ///   - direction: `front`, `rear` or nothing.
    mutating func take(isCable: Bool, orientation: Int32, direction: String?) {
        guard type == .builtIn || type == .external else { return }
        if isCable {
            (type, position) = (.captureCard, .unspecified)
            return
        }
        switch (direction, orientation) {
        case ("front", _): position = .front
        case ("rear", _): position = .back
        case (_, V4L2_CAMERA_ORIENTATION_FRONT): position = .front
        case (_, V4L2_CAMERA_ORIENTATION_BACK): position = .back
        case (_, V4L2_CAMERA_ORIENTATION_EXTERNAL): (type, position) = (.external, .external)
        default: break
        }
    }

    /// The port, for people; `nil` where it has none.
    var portName: String? { port.map { "port \($0)" } }

    /// The devices with names that differ: where several have one name, each gets a mark.
    ///
    /// - Parameter marks: For each device what may tell it from others, the best first; as many for each. The last one
    ///   differs for all of them.
    static func toldApart(_ devices: [DeviceDescription], by marks: [[String?]]) -> [DeviceDescription] {
        var named = devices
        for twins in Dictionary(grouping: devices.indices, by: { devices[$0].name }).values where twins.count > 1 {
            let columns = twins.map { marks[$0].count }.min() ?? 0
            let best = (0..<columns).first { column in
                Set(twins.compactMap { marks[$0][column] }).count == twins.count
            }
            guard let best else { continue }
            for index in twins { named[index].name += " (\(marks[index][best] ?? ""))" }
        }
        return named
    }
}
