import CUdev
import CaptureSystem
import Glibc

/// What udev's database knows of a device node.
struct UdevRecord {
    /// The links that its rules made, as `/dev/v4l/by-id/…`; none where udev does not run.
    var links: [String]
    /// Whether the device has a serial number. Without one its links in `by-id` are shared by every device of that
    /// model.
    var hasSerial: Bool
    /// Whether links and permissions are what they will be: its rules have run, or nobody runs any.
    var isSettled: Bool

    /// What the driver of a video node can do, as in `:capture:`; `nil` for other nodes, and where nobody has asked it.
    var videoCapabilities: String?
    /// Which way a camera looks, as udev's hardware database has it: `front` or `rear`.
    var cameraDirection: String?

    /// The link that names a device for good: by its serial number, else by the port that it is in.
    ///
    /// - Parameter links: Those that lead to this device alone.
    static func lasting(_ links: [String], hasSerial: Bool) -> String? {
        func least(_ folder: String) -> String? { links.filter { $0.contains(folder) }.min() }
        return (hasSerial ? least("/by-id/") : nil) ?? least("/by-path/")
    }

    /// The links that one device alone claims, by device.
    ///
    /// Two cameras without serial numbers, two with the same one, or two of one driver, claim one link; whose it is changes
    /// from start to start, so that it identifies neither.
    static func uncontested<Key>(_ links: [Key: [String]]) -> [Key: [String]] {
        var claims: [String: Int] = [:]
        for link in links.values.joined() { claims[link, default: 0] += 1 }
        return links.mapValues { $0.filter { claims[$0] == 1 } }
    }

    /// Whether there is a database: udev runs.
    static var isKept: Bool { unsafe access("/run/udev/control", F_OK) == 0 }

    /// Looks a node up; `nil` when there is no such device.
    init?(ofNode path: String) {
        guard let number = Files.deviceNumber(of: path), let udev = unsafe udev_new() else { return nil }
        defer { unsafe udev_unref(udev) }
        // 0x63 is a 'c': a character device.
        guard let device = unsafe udev_device_new_from_devnum(udev, 0x63, dev_t(number)) else { return nil }
        defer { unsafe udev_device_unref(device) }
        isSettled = unsafe !UdevRecord.isKept || udev_device_get_is_initialized(device) > 0
        func property(_ name: String) -> String? {
            unsafe udev_device_get_property_value(device, name).map { unsafe String(cString: $0) }
        }
        videoCapabilities = property("ID_V4L_CAPABILITIES")
        cameraDirection = property("ID_CAMERA_DIRECTION")
        hasSerial = property("ID_SERIAL_SHORT") != nil
        links = []
        var entry = unsafe udev_device_get_devlinks_list_entry(device)
        while let now = unsafe entry {
            if let name = unsafe udev_list_entry_get_name(now) { unsafe links.append(String(cString: name)) }
            unsafe entry = udev_list_entry_get_next(now)
        }
    }
}
