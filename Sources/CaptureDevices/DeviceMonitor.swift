public import CaptureCore
import CaptureSystem
import Glibc
import Synchronization

/// Knows which devices are there and says when that changes.
///
/// One thread listens to udev (or, without it, to the kernel) and probes what changed; nothing polls. Thread-safe.
public final class DeviceMonitor: Sendable {
    private let list: DeviceList
    private let stopSignal: EventSignal
    private let thread: WorkerThread

    /// Probes every device, then follows changes until the monitor is let go.
    ///
    /// - Parameters:
    ///   - probers: One for each kind of device, as `V4L2.prober()`.
    ///   - onChange: Called on the monitor's thread for every change after the first probe, when `devices()` has it
    ///     already. A device of the same id that offers something else now is `added` once more.
    /// - Throws: `inputOutput` when the kernel's events cannot be received.
    public init(
        probers: [DeviceProber],
        onChange: @escaping @Sendable (DeviceChange) -> Void
    ) throws(CaptureError) {
        let list = DeviceList()
        let follower: DeviceFollower
        do throws(SystemError) {
            let signal = try EventSignal()
            stopSignal = signal
            follower = try DeviceFollower(probers, list, signal)
        } catch {
            throw CaptureError(.inputOutput, error)
        }
        self.list = list
        follower.probeAll()
        thread = try CaptureError.wrap(
            .inputOutput,
            try WorkerThread(name: "device-monitor") { follower.run(onChange) }
        )
    }

    deinit {
        stopSignal.raise()
        if !thread.isCurrent { thread.join() }
    }

    /// The devices that are there now: cameras by node number, then microphones, as the probers list them.
    public func devices() -> [DeviceDescription] { list.devices }
}

/// The devices of each prober. Thread-safe.
final class DeviceList: Sendable {
    private let lists = Mutex<[Int: [DeviceDescription]]>([:])

    var devices: [DeviceDescription] {
        lists.withLock { lists in lists.keys.sorted().flatMap { lists[$0] ?? [] } }
    }

    /// Takes over what a prober found, and tells what is different.
    func replace(_ prober: Int, by devices: [DeviceDescription]) -> [DeviceChange] {
        lists.withLock { lists in
            let before = lists.updateValue(devices, forKey: prober) ?? []
            let left = before.filter { old in !devices.contains { $0.id == old.id } }
            let new = devices.filter { !before.contains($0) }
            return left.map { .removed($0.id) } + new.map { .added($0) }
        }
    }
}

/// The monitor's thread: waits for news, asks the probers. Thread-bound after `probeAll`.
private final class DeviceFollower: @unchecked Sendable {
    private let probers: [DeviceProber]
    private let list: DeviceList
    private let stopSignal: EventSignal
    private let events: UdevMonitor
    private let watch: FolderWatch

    /// Opens the ears, before the first probe, so that nothing falls between.
    init(_ probers: [DeviceProber], _ list: DeviceList, _ stopSignal: EventSignal) throws(SystemError) {
        self.probers = probers
        self.list = list
        self.stopSignal = stopSignal
        events = try UdevMonitor(subsystems: probers.map(\.subsystem))
        watch = try FolderWatch()
        watchFolders()
    }

    func probeAll() {
        for (index, prober) in probers.enumerated() { _ = list.replace(index, by: prober.probe(nil)) }
    }

    func run(_ onChange: (DeviceChange) -> Void) {
        var poll = [
            pollfd(fd: stopSignal.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: events.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: watch.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            let count = unsafe Glibc.poll(&poll, nfds_t(poll.count), -1)
            // A poll of three open descriptors fails by a signal, or for want of memory, which may come back.
            if count < 0 { continue }
            if poll[0].revents != 0 { return }
            for (index, changed) in news().sorted(by: { $0.key < $1.key }) {
                for change in list.replace(index, by: probers[index].probe(changed)) { onChange(change) }
            }
        }
    }

    /// The nodes of which something was heard, by prober; all when events were lost.
    private func news() -> [Int: Set<String>?] {
        var news: [Int: Set<String>] = [:]
        var isLoss = false
        for event in events.drain() {
            isLoss = isLoss || event.isLoss
            for (index, prober) in probers.enumerated() where event.concerns(prober) {
                news[index, default: []].formUnion([event.node].compactMap { $0 })
            }
        }
        for path in watch.changes() {
            // A folder of nodes comes with its first node.
            if probers.contains(where: { $0.folder == path }) { watchFolders() }
            for (index, prober) in probers.enumerated() where prober.mayOwn(path) {
                news[index, default: []].insert(path)
            }
        }
        if isLoss { return Dictionary(uniqueKeysWithValues: probers.indices.map { ($0, nil) }) }
        return news
    }

    private func watchFolders() {
        for folder in Set(probers.map(\.folder)).union(["/dev"]) { watch.add(folder) }
    }
}
