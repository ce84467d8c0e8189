import CSystemd
import CaptureCore
import CaptureSystem
import Glibc
import Logging

/// Bounds what waits to be sent: while the bus does not read, it stays in memory.
extension BusCore {
    /// Calls are taken in while at most this many messages wait to be sent. Each call adds its answer.
    static let mostUnsent = 1024
    /// Signals are added while at most this many messages wait to be sent.
    static let mostUnsentSignals = 16 * mostUnsent

    private var unsent: UInt64 {
        var count: UInt64 = 0
        // A lost connection has nothing to send.
        return unsafe sd_bus_get_n_queued_write(bus, &count) < 0 ? 0 : count
    }

    /// Whether the bus must first read what waits for it before this connection reads more.
    var isCongested: Bool { unsent > UInt64(Self.mostUnsent) }

    /// Whether `sd_bus_process` has anything to do besides reading. It writes first, and reads only if it could write
    /// nothing.
    func mayProcess() -> Bool {
        guard isCongested else { return true }
        guard let interest = pollInterest(), interest.milliseconds != 0 else { return true }
        var file = pollfd(fd: interest.descriptor, events: interest.events, revents: 0)
        return unsafe poll(&file, 1, 0) != 0
    }

    /// Whether there is room for one more signal. Listeners miss signals if the bus has not read for too long.
    func hasRoomForSignal() -> Bool {
        guard unsent < UInt64(Self.mostUnsentSignals) else {
            if signalsLeftOut == 0 {
                log.error("the message bus does not read what this program sends: dropping signals")
            }
            signalsLeftOut += 1
            return false
        }
        if signalsLeftOut > 0 {
            log.error("the message bus reads again; \(signalsLeftOut) signals were dropped")
            signalsLeftOut = 0
        }
        return true
    }
}
