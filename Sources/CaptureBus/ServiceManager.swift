import CSystemd
import CaptureCore
import CaptureSystem
import Logging

/// What a service tells the service manager: sd_notify(3) and sd_watchdog_enabled(3).
///
/// Thread-safe. Without a service manager nothing is told and nothing fails.
public enum ServiceManager {
    /// What there is to tell.
    public enum State: Hashable, Sendable {
        /// It serves.
        case ready
        /// It reads its configuration anew; `ready` follows.
        case reloading
        /// It is ending.
        case stopping
        /// One line for `systemctl status`.
        case status(String)
        /// It is alive: to be told at least every `watchdogInterval`.
        case watchdog
        /// Changes the watchdog interval, in microseconds; 0 turns the watchdog off.
        case watchdogInterval(UInt64)

        var text: String {
            switch self {
            case .ready: "READY=1"
            case .reloading:
                "RELOADING=1\nMONOTONIC_USEC=\(Timestamp.now.nanoseconds / 1000)"
            case .stopping: "STOPPING=1"
            case .status(let line): "STATUS=" + line.filter { !$0.isNewline }
            case .watchdog: "WATCHDOG=1"
            case .watchdogInterval(let microseconds): "WATCHDOG_USEC=\(microseconds)"
            }
        }
    }

    /// Tells the service manager. One that cannot be told will act on what it was not told; the log says why.
    public static func tell(_ states: State...) {
        let code = unsafe sd_notify(0, states.map(\.text).joined(separator: "\n"))
        if code < 0 { log.warning("\(SystemError("notify the service manager", errno: -code))") }
    }

    /// Turns the watchdog on again; it counts from now.
    ///
    /// - Parameter interval: Nanoseconds within which it must hear from the service.
    public static func turnOnWatchdog(_ interval: Int64) {
        // A watchdog that was off counts from the last message before that, so a short interval would end the service
        // at once. So the first interval is one that cannot be over, and a message follows before the real one is set.
        tell(.watchdogInterval(farAway))
        tell(.watchdogInterval(UInt64(max(interval, 0)) / 1000), .watchdog)
    }

    /// A hundred years in microseconds: longer than any machine is up.
    private static let farAway: UInt64 = 3_155_760_000_000_000

    /// Nanoseconds within which the watchdog wants to hear of the service, best met more than twice over; `nil` for no watchdog.
    public static var watchdogInterval: Int64? {
        var microseconds: UInt64 = 0
        guard unsafe sd_watchdog_enabled(0, &microseconds) > 0 else { return nil }
        return Int64(clamping: microseconds.multipliedReportingOverflow(by: 1000).partialValue)
    }

    /// Whether systemd is the init of this machine: sd_booted(3).
    public static var isBooted: Bool { sd_booted() > 0 }
}
