import CaptureCore
import CaptureSystem
import Glibc
import Synchronization
import Testing

@testable import CaptureDevices

private func device(_ name: String, driver: String = "test") -> DeviceDescription {
    DeviceDescription(
        id: DeviceID(rawValue: name),
        mediaType: .video,
        name: name,
        aliases: [],
        driver: driver,
        bus: ""
    )
}

/// What a prober finds, changed by the test, and what the monitor made of it.
private final class World: Sendable {
    let found = Mutex<[DeviceDescription]>([])
    let heard = Mutex<[String]>([])
    let asked = Mutex<[Set<String>?]>([])
    let news = try? EventSignal()

    func hear(_ change: DeviceChange) {
        heard.withLock {
            switch change {
            case .added(let device): $0.append("+\(device.id)")
            case .removed(let id): $0.append("-\(id)")
            }
        }
        news?.raise()
    }
}

@Suite struct `The list of devices` {
    @Test func `tells what came and what went`() {
        let list = DeviceList()
        func changes(_ devices: [DeviceDescription], of prober: Int = 0) -> [String] {
            list.replace(prober, by: devices).map {
                switch $0 {
                case .added(let device): "+\(device.id)"
                case .removed(let id): "-\(id)"
                }
            }
        }
        #expect(changes([device("a"), device("b")]) == ["+a", "+b"])
        #expect(changes([device("b"), device("a")]) == [])
        #expect(changes([device("b"), device("c")]) == ["-a", "+c"])
        #expect(changes([device("sound")], of: 1) == ["+sound"])
        #expect(changes([device("b", driver: "other"), device("c")]) == ["+b"])
        #expect(list.devices.map(\.id.rawValue) == ["b", "c", "sound"])
    }

    /// A folder of the test's own stands for `/dev`: a node that appears there, or whose permissions change, is news.
    @Test(.timeLimit(.minutes(10))) func `follows nodes that become accessible`() throws {
        var template = Array("/tmp/captured-devices-XXXXXX".utf8CString)
        let made: String? = unsafe mkdtemp(&template).map { unsafe String(cString: $0) }
        let folder = try #require(made)
        defer { unsafe rmdir(folder) }
        let world = World()
        let prober = DeviceProber(subsystem: "video4linux", folder: folder, prefix: "video") { changed in
            world.asked.withLock { $0.append(changed) }
            return world.found.withLock { $0 }
        }
        let monitor = try DeviceMonitor(probers: [prober], onChange: world.hear)
        #expect(monitor.devices().isEmpty)

        world.found.withLock { $0 = [device("camera")] }
        let path = "\(folder)/video7"
        defer { unsafe unlink(path) }
        _ = try Descriptor.open(path, O_CREAT | O_WRONLY)
        let signal = try #require(world.news)
        #expect(try Poll.wait(signal.descriptor, timeout: 30_000) == .readable)
        #expect(world.heard.withLock { $0 } == ["+camera"])
        #expect(monitor.devices().map(\.id.rawValue) == ["camera"])
        #expect(world.asked.withLock { $0.first } == .some(nil))
        #expect(world.asked.withLock { $0.last } == .some([path]))

        signal.lower()
        world.found.withLock { $0 = [] }
        unsafe chmod(path, 0o660)
        #expect(try Poll.wait(signal.descriptor, timeout: 30_000) == .readable)
        #expect(world.heard.withLock { $0 } == ["+camera", "-camera"])
    }
}
