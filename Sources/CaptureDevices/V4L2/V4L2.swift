import CaptureCore
import CaptureSystem
import Glibc
import Synchronization

/// Finds cameras.
public enum V4L2 {
    /// What a device monitor needs to follow cameras.
    public static func prober() -> DeviceProber {
        let probe = V4L2Probe()
        return DeviceProber(subsystem: "video4linux", folder: "/dev", prefix: "video") { probe.devices(changed: $0) }
    }
}

/// The cameras that are there, as a cache: just nodes that changed are opened again. Thread-safe.
final class V4L2Probe: Sendable {
    /// What a camera's node says of itself.
    private struct Camera {
        var driver: String
        var bus: String
        var card: String
        /// Which of the camera's nodes it is: sysfs' `index`.
        var index: String
        var place: DevicePlace
        var formats: [VideoFormatOption]
        var seat: NodeSeat
    }

    /// What a node is.
    private enum Node {
        case camera(Camera)
        /// It has the metadata of a camera beside it.
        case metadata(NodeSeat, [PixelFormat])
        case other
    }

    /// By path.
    private let found = Mutex<[String: Node]>([:])

    /// The cameras now.
    ///
    /// - Parameter changed: Nodes of which something was heard; `nil` for all.
    func devices(changed: Set<String>?) -> [DeviceDescription] {
        // A folder that changes while it is read can name an entry twice.
        let names = Set(Files.names(in: "/sys/class/video4linux").filter { $0.hasPrefix("video") })
        let paths = names.map { "/dev/\($0)" }.sorted { ($0.count, $0) < ($1.count, $1) }
        let records = Dictionary(uniqueKeysWithValues: paths.map { ($0, UdevRecord(ofNode: $0)) })
        return found.withLock { found in
            for path in found.keys where !paths.contains(path) { found[path] = nil }
            for path in paths where found[path] == nil || changed?.contains(path) ?? true {
                switch V4L2Probe.examine(path, records[path] ?? nil) {
                case .success(let node): found[path] = node
                // It is used exclusively, or nothing can be opened now: what is known of it still holds.
                case .failure(let error) where [EBUSY, EMFILE, ENFILE, ENOMEM].contains(error.errno): break
                // Not remembered, so that it is tried again at the next event: its permissions may not be set yet.
                case .failure: found[path] = nil
                }
            }
            // Named anew each time: a node that comes may contest the links of one that is there.
            let links = UdevRecord.uncontested(records.compactMapValues { $0?.links })
            var cameras: [(path: String, camera: Camera)] = []
            var tellers: [(seat: NodeSeat, metadata: DeviceMetadata)] = []
            for path in paths {
                switch found[path] {
                case .camera(let camera): cameras.append((path, camera))
                case .metadata(let seat, let formats):
                    tellers.append((seat, DeviceMetadata(node: path, formats: formats)))
                case .other, nil: break
                }
            }
            let owners = tellers.map { $0.seat.owner(among: cameras.map(\.camera.seat)) }
            let devices = cameras.enumerated().map { place, one in
                let hasSerial = records[one.path]??.hasSerial ?? false
                var device = describe(one.camera, at: one.path, links[one.path] ?? [], hasSerial)
                device.metadata = zip(owners, tellers).first { $0.0 == place }?.1.metadata
                return device
            }
            return DevicePlace.toldApart(
                V4L2Probe.distinct(devices),
                by: cameras.map { path, camera in [camera.place.portName, String(path.dropFirst("/dev/".count))] }
            )
        }
    }

    private func describe(_ camera: Camera, at path: String, _ links: [String], _ hasSerial: Bool) -> DeviceDescription
    {
        let identity = V4L2Identity(
            path: path,
            links: links,
            hasSerial: hasSerial,
            bus: camera.bus,
            card: camera.card,
            index: camera.index
        )
        return DeviceDescription(
            id: identity.id,
            mediaType: .video,
            name: identity.name,
            aliases: identity.aliases,
            driver: camera.driver,
            bus: camera.bus,
            deviceType: camera.place.type,
            position: camera.place.position,
            videoFormats: camera.formats
        )
    }

    /// What a node is.
    private static func examine(_ path: String, _ record: UdevRecord?) -> Result<Node, SystemError> {
        do throws(SystemError) {
            guard let record else { throw SystemError("find \(path)", errno: ENODEV) }
            // udev's event follows.
            guard record.isSettled else { throw SystemError("open \(path)", errno: EAGAIN) }
            let node = try V4L2Node(path: path)
            let folder = "/sys/class/video4linux/\(path.dropFirst("/dev/".count))"
            let index = Files.line(of: "\(folder)/index") ?? "0"
            let parent = Files.resolved("\(folder)/device") ?? ""
            let seat = NodeSeat(bus: node.bus, parent: parent, index: Int(index) ?? 0)
            if node.isMetadata {
                let formats = node.metadataFormats()
                return .success(formats.isEmpty ? .other : .metadata(seat, formats))
            }
            guard node.isCamera else { return .success(.other) }
            return .success(
                .camera(
                    Camera(
                        driver: node.driver,
                        bus: node.bus,
                        card: node.card,
                        index: index,
                        place: DevicePlace(ofCamera: node, at: folder, direction: record.cameraDirection),
                        formats: node.formatOptions(),
                        seat: seat
                    )
                )
            )
        } catch {
            return .failure(error)
        }
    }

    /// The devices with ids that differ: of two that udev cannot tell apart, the later one is named by its node too.
    static func distinct(_ devices: [DeviceDescription]) -> [DeviceDescription] {
        var seen: Set<DeviceID> = []
        return devices.map { device in
            var device = device
            if !seen.insert(device.id).inserted {
                let node = device.aliases.first?.split(separator: "/").last.map(String.init) ?? "again"
                device.id = DeviceID(rawValue: "\(device.id)-\(node)")
                seen.insert(device.id)
            }
            return device
        }
    }
}
