import CSystemd
import CaptureCore
import CaptureSystem
import Glibc

/// What is sent while the bus does not read: it waits in memory, so there is an end to it.
extension BusCore {
    /// The most messages that wait to be sent while calls are still taken in, each of which adds its answer.
    static let mostUnsent = 1024
    /// The most that wait to be sent while signals are still added.
    static let mostUnsentSignals = 16 * mostUnsent

    private var unsent: UInt64 {
        var count: UInt64 = 0
        // A connection that is lost has nothing to send.
        return unsafe sd_bus_get_n_queued_write(bus, &count) < 0 ? 0 : count
    }

    /// Whether the bus has to read what is sent to it before it is read from.
    var isCongested: Bool { unsent > UInt64(Self.mostUnsent) }

    /// Whether there is anything for `sd_bus_process` to do now beside reading: it writes first, and reads when it could
    /// write nothing.
    func mayProcess() -> Bool {
        guard isCongested else { return true }
        guard let interest = pollInterest(), interest.milliseconds != 0 else { return true }
        var file = pollfd(fd: interest.descriptor, events: interest.events, revents: 0)
        return unsafe poll(&file, 1, 0) != 0
    }

    /// Whether one more signal may wait to be sent. Who listens while the bus reads nothing for so long misses some.
    func hasRoomForSignal() -> Bool {
        guard unsent < UInt64(Self.mostUnsentSignals) else {
            if signalsLeftOut == 0 {
                Journal.send("the bus does not read what is sent to it: signals are left out", priority: .error)
            }
            signalsLeftOut += 1
            return false
        }
        if signalsLeftOut > 0 {
            Journal.send("the bus reads again; \(signalsLeftOut) signals were left out", priority: .error)
            signalsLeftOut = 0
        }
        return true
    }
}
