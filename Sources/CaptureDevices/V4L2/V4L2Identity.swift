import CaptureCore

/// What a camera is called: stably across restarts and replugging into the same port.
struct V4L2Identity: Equatable {
    var id: DeviceID
    var aliases: [String]
    var name: String

    /// Makes the names from what udev and the driver say.
    ///
    /// - Parameters:
    ///   - path: The node, as `/dev/video0`.
    ///   - links: udev's links to this node and no other.
    ///   - hasSerial: Whether the camera has a serial number. One without is named by its port, so that its name stays when
    ///     another one like it is plugged in.
    ///   - index: Which of the camera's nodes it is: sysfs' `index`.
    init(path: String, links: [String], hasSerial: Bool, bus: String, card: String, index: String) {
        let stable: String
        if let link = UdevRecord.lasting(links, hasSerial: hasSerial) {
            stable = String(link[link.index(after: link.lastIndex(of: "/") ?? link.startIndex)...])
        } else {
            let name = path.split(separator: "/").last.map(String.init) ?? path
            stable = (bus.isEmpty ? name : bus) + "-video-index\(index)"
        }
        id = DeviceID(rawValue: "v4l2:\(stable)")
        aliases = [path] + links.filter { $0.hasPrefix("/dev/v4l/") }.sorted()
        // uvcvideo says the product's name twice where interface and product have the same.
        let parts = card.split(separator: ":", maxSplits: 1)
        let isTwice = parts.count == 2 && parts[0] == parts[1].drop { $0 == " " }
        name = isTwice ? String(parts[0]) : card.isEmpty ? path : card
    }
}
