import CaptureCore
import CaptureSystem
import Synchronization

/// Finds microphones.
public enum ALSA {
    /// How a device monitor finds microphones: every capture stream of every card that this process may open, in the
    /// order of cards, devices and subdevices.
    ///
    /// Opens each device to ask what it offers, and closes it. One in use is described without formats. A device is asked
    /// again only when something was heard of its card.
    public static func prober() -> DeviceProber {
        let cache = ProbeCache()
        return DeviceProber(subsystem: "sound", folder: "/dev/snd") { changed in cache.probe(changed) }
    }
}

/// What the last probe found, so that a device in use is not asked anew for its neighbour's sake. Thread-safe.
private final class ProbeCache: Sendable {
    private let known = Mutex<[PCMAddress: (stream: CardProbe.Stream, description: DeviceDescription)]>([:])

    func probe(_ changed: Set<String>?) -> [DeviceDescription] {
        let streams = CardProbe.streams()
        return known.withLock { known in
            var found: [PCMAddress: (stream: CardProbe.Stream, description: DeviceDescription)] = [:]
            var list: [(stream: CardProbe.Stream, description: DeviceDescription)] = []
            for stream in streams {
                let address = stream.address
                let isNews =
                    changed?.contains { $0 == address.node || $0 == "/dev/snd/controlC\(address.card)" } ?? true
                let before = known[address].flatMap { $0.stream == stream ? $0 : nil }
                if !isNews, let before {
                    found[address] = before
                } else if let description = CardProbe.describe(stream, before: before?.description) {
                    found[address] = (stream, description)
                }
                if let entry = found[address] { list.append(entry) }
            }
            known = found
            return DevicePlace.toldApart(
                list.map(\.description),
                by: list.map { stream, _ in
                    let address = stream.address
                    return [stream.place.portName, "device \(address.device)", "hw:\(address.card),\(address.device)"]
                }
            )
        }
    }
}
