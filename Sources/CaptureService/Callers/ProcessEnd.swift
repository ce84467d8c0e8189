import CLinux
import CaptureSystem
import Glibc

/// Waits for the end of a process that is not a child, on a thread of its own. Thread-safe.
final class ProcessEnd: Sendable {
    /// Nothing is written to it: the thread ends when it is closed.
    private let stop: Descriptor

    /// - Parameters:
    ///   - pid: The process.
    ///   - ended: Called once, on that thread, unless this object is gone before the process is.
    /// - Throws: If there is no such process, or no thread.
    init(of pid: Int32, ended: @escaping @Sendable () -> Void) throws(SystemError) {
        let process = Descriptor(owning: try SystemError.check("pidfd_open") { clinux_pidfd_open(pid) })
        let pipe = try Descriptor.pipe()
        stop = pipe.writing
        let stopped = pipe.reading
        try WorkerThread.detached(name: "process-end") {
            do throws(SystemError) {
                if try Poll.wait(process.descriptor, stopped.descriptor).1.isEmpty { ended() }
            } catch {
                // Who cannot be followed any more captures nothing more.
                ended()
            }
        }
    }
}
