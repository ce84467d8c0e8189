import CaptureBus
import CaptureCore
import CaptureSystem
import CLinux
import Glibc
import Synchronization

/// Why the daemon ends.
enum DaemonEnd: Sendable, CustomStringConvertible {
    case signal(Int32)
    case lostBus(CaptureError)

    var description: String {
        switch self {
        case .signal(SIGINT): "interrupted"
        case .signal: "terminated"
        case .lostBus(let error): "the bus is gone: \(error)"
        }
    }
}

/// SIGTERM, SIGINT and SIGHUP, for a task to wait for.
final class TerminationSignals: Sendable {
    private let file: Descriptor
    private let wake: EventSignal
    private let raised = Mutex<DaemonEnd?>(nil)

    /// Catches the three signals from here on; once for a process.
    init() throws(CaptureError) {
        do throws(SystemError) {
            file = Descriptor(owning: try SystemError.check("catch signals") { clinux_catch_termination() })
            wake = try EventSignal()
        } catch {
            throw CaptureError(.internalFault, error)
        }
    }

    /// Ends the wait from inside.
    func raise(_ end: DaemonEnd) {
        raised.withLock { $0 = $0 ?? end }
        wake.raise()
    }

    /// Waits for the daemon's end, on a thread of its own.
    ///
    /// - Parameter reload: Called for each SIGHUP, one call after the other. Signals that come during a call count as
    ///   one.
    func wait(reload: @escaping @Sendable () async -> Void) async -> DaemonEnd {
        let events = AsyncStream<Int32>.makeStream()
        let reloads = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let reloading = Task { for await _ in reloads.stream { await reload() } }
        defer { reloading.cancel() }
        let (file, wake) = (file, wake)
        do {
            try WorkerThread.detached(name: "signals") {
                while true {
                    guard let ready = try? Poll.wait(file.descriptor, wake.descriptor) else { break }
                    if ready.1.contains(.readable) { break }
                    let signal = ready.0.contains(.readable) ? clinux_caught_signal(file.descriptor) : 0
                    events.continuation.yield(signal)
                }
                events.continuation.finish()
            }
        } catch {
            return .lostBus(CaptureError(.internalFault, error))
        }
        for await signal in events.stream {
            switch signal {
            case SIGHUP: reloads.continuation.yield()
            case SIGTERM, SIGINT: return .signal(signal)
            default: break
            }
        }
        return raised.withLock { $0 } ?? .signal(SIGTERM)
    }
}
