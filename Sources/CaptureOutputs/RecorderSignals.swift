import CLinux
public import CaptureCore
import CaptureSystem
import Glibc
import Synchronization

/// What signals mean to a recorder: SIGTERM finishes the file; SIGINT and SIGHUP, which a terminal sends to a whole
/// group of processes, mean nothing, since the daemon says when a recorder shall stop. Thread-safe.
public final class RecorderSignals: Sendable {
    private let file: Descriptor
    private let thread = Mutex<WorkerThread?>(nil)

    /// Takes the signals over; once for a process. One that kills the process is told to the daemon first.
    public init(connection: Int32) throws(CaptureError) {
        // A process started from a thread that had them blocked, as those of libdispatch have, would not hear them.
        for signal in [SIGTERM, SIGINT, SIGHUP] { clinux_unblock_signal(signal) }
        do throws(SystemError) {
            file = Descriptor(owning: try SystemError.check("catch signals") { clinux_catch_termination() })
            _ = try SystemError.check("catch fatal signals") { clinux_announce_death(connection) }
        } catch {
            throw CaptureError(.internalFault, error)
        }
    }

    /// Calls `terminate` for each SIGTERM, on a thread of its own that lasts as long as the process.
    public func listen(_ terminate: @escaping @Sendable () -> Void) throws(CaptureError) {
        let file = file
        do throws(SystemError) {
            let listener = try WorkerThread(name: "signals") {
                do throws(SystemError) {
                    while true {
                        _ = try Poll.wait(file.descriptor)
                        if clinux_caught_signal(file.descriptor) == SIGTERM { terminate() }
                    }
                } catch {
                    Recorder.log("cannot receive signals any more: \(error)")
                }
            }
            thread.withLock { $0 = listener }
        } catch {
            throw CaptureError(.internalFault, error)
        }
    }
}
