import CaptureCore
import CaptureSystem
import Synchronization

/// Brings a file to the disk now and then on a thread of its own, so that a power cut costs a second and no write waits.
///
/// Thread-safe. A fault shows with the next write: `RecorderFile.failure`.
final class DiskSync: Sendable {
    private let requests = BlockingQueue<Bool>()
    /// `nil` when it was waited for.
    private let thread: Mutex<WorkerThread?>

    /// Starts the thread for a file that can be gone back in.
    init(_ file: RecorderFile) throws(CaptureError) {
        let requests = requests
        do throws(SystemError) {
            let thread = try WorkerThread(name: "disk-sync") {
                while requests.take() != nil {
                    // Those that came meanwhile are done with this one.
                    _ = requests.drain()
                    do throws(CaptureError) { try file.sync() } catch { return }
                }
            }
            self.thread = Mutex(thread)
        } catch {
            throw CaptureError(.internalFault, error)
        }
    }

    /// Asks for what is written by now to be brought to the disk.
    func request() { requests.put(true) }

    /// Ends the thread and waits for it. Idempotent.
    func stop() {
        requests.close()
        thread.withLock { $0.take() }?.join()
    }
}
