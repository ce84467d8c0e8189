import CUdev
import CaptureSystem
import Glibc

/// The kernel's device events: those that udev sends on once links and permissions are set, or, on machines without
/// udev, the kernel's own.
///
/// Thread-bound: one thread receives.
@safe
final class UdevMonitor {
    /// One event.
    struct Event {
        var subsystem: String
        /// The device node, where there is one.
        var node: String?
        /// More events came than the socket holds: anything may have changed.
        var isLoss = false

        /// Whether a prober's devices may have changed.
        func concerns(_ prober: DeviceProber) -> Bool {
            isLoss || (subsystem == prober.subsystem && (node.map(prober.mayOwn) ?? true))
        }
    }

    private let udev: OpaquePointer
    private let monitor: OpaquePointer

    /// The descriptor to poll for reading.
    var descriptor: Int32 { unsafe udev_monitor_get_fd(monitor) }

    /// Listens to events of the given subsystems.
    ///
    /// - Throws: When the kernel gives no netlink socket.
    init(subsystems: [String]) throws(SystemError) {
        // libudev listens to nobody when asked for udev's events while udev does not run.
        guard let udev = unsafe udev_new() else { throw SystemError("set up libudev", errno: ENOMEM) }
        guard let monitor = unsafe udev_monitor_new_from_netlink(udev, UdevRecord.isKept ? "udev" : "kernel") else {
            let code = errno
            unsafe udev_unref(udev)
            throw SystemError("listen to device events", errno: code)
        }
        unsafe self.udev = udev
        unsafe self.monitor = monitor
        for subsystem in subsystems {
            let code = unsafe udev_monitor_filter_add_match_subsystem_devtype(monitor, subsystem, nil)
            if code < 0 { throw SystemError("filter device events", errno: -code) }
        }
        // A busy bus sends hundreds of events at once; more are lost than a small buffer holds.
        _ = unsafe udev_monitor_set_receive_buffer_size(monitor, 4 << 20)
        let code = unsafe udev_monitor_enable_receiving(monitor)
        if code < 0 { throw SystemError("listen to device events", errno: -code) }
    }

    deinit {
        unsafe udev_monitor_unref(monitor)
        unsafe udev_unref(udev)
    }

    /// Every event that waits.
    func drain() -> [Event] {
        var events: [Event] = []
        while true {
            errno = 0
            guard let device = unsafe udev_monitor_receive_device(monitor) else {
                // Kernel and libudev drop what does not fit, and say so once.
                guard errno == ENOBUFS else { return events }
                events.append(Event(subsystem: "", node: nil, isLoss: true))
                continue
            }
            defer { unsafe udev_device_unref(device) }
            guard let subsystem = unsafe udev_device_get_subsystem(device) else { continue }
            let node = unsafe udev_device_get_devnode(device).map { unsafe String(cString: $0) }
            unsafe events.append(Event(subsystem: String(cString: subsystem), node: node))
        }
    }
}
