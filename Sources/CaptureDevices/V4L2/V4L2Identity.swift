import CUdev
import CaptureCore
import CaptureSystem
import Glibc

/// What a camera is called: stably across restarts and replugging into the same port.
struct V4L2Identity: Equatable {
    var id: DeviceID
    var aliases: [String]
    var name: String

    /// Makes the names from what udev and the driver say.
    ///
    /// - Parameters:
    ///   - path: The node, as `/dev/video0`.
    ///   - links: udev's links to this very node.
    ///   - index: Which of the camera's nodes it is: sysfs' `index`.
    init(path: String, links: [String], bus: String, card: String, index: String) {
        let byID = links.filter { $0.hasPrefix("/dev/v4l/by-id/") }.min()
        let byPath = links.filter { $0.hasPrefix("/dev/v4l/by-path/") }.min()
        let stable: String
        if let link = byID ?? byPath {
            stable = String(link[link.index(after: link.lastIndex(of: "/") ?? link.startIndex)...])
        } else {
            let name = path.split(separator: "/").last.map(String.init) ?? path
            stable = (bus.isEmpty ? name : bus) + "-video-index\(index)"
        }
        id = DeviceID(rawValue: "v4l2:\(stable)")
        aliases = [path] + [byID, byPath].compactMap { $0 }
        // uvcvideo says the product's name twice where interface and product have the same.
        let parts = card.split(separator: ":", maxSplits: 1)
        let isTwice = parts.count == 2 && parts[0] == parts[1].drop { $0 == " " }
        name = isTwice ? String(parts[0]) : card.isEmpty ? path : card
    }

    /// Asks udev and sysfs about a node.
    init(of node: V4L2Node) {
        let number = Files.deviceNumber(of: node.path)
        let name = node.path.split(separator: "/").last.map(String.init) ?? ""
        let index = Files.line(of: "/sys/class/video4linux/\(name)/index") ?? "0"
        // Two cameras without serial numbers claim one link; it identifies the one it leads to.
        let links = number.map(V4L2Identity.links) ?? []
        self.init(
            path: node.path,
            links: links.filter { Files.deviceNumber(of: $0) == number },
            bus: node.bus,
            card: node.card,
            index: index
        )
    }

    /// The links that udev's database has for a device; none where udev does not run.
    private static func links(of number: UInt64) -> [String] {
        guard let udev = unsafe udev_new() else { return [] }
        defer { unsafe udev_unref(udev) }
        guard let device = unsafe udev_device_new_from_devnum(udev, 0x63, dev_t(number)) else { return [] }
        defer { unsafe udev_device_unref(device) }
        var links: [String] = []
        var entry = unsafe udev_device_get_devlinks_list_entry(device)
        while let now = unsafe entry {
            if let name = unsafe udev_list_entry_get_name(now) { unsafe links.append(String(cString: name)) }
            unsafe entry = udev_list_entry_get_next(now)
        }
        return links
    }
}
