import CLinux
import Glibc

/// A named POSIX thread with a body that runs once: for the loops that block in poll(2) and must not do so in Swift's
/// cooperative pool.
///
/// Thread-safe; `join` is to be called once, from another thread.
public final class WorkerThread: Sendable {
    private let handle: pthread_t

    /// Starts a thread.
    ///
    /// - Parameters:
    ///   - name: What `ps -T` shows; the kernel keeps 15 bytes.
    ///   - body: Runs on the thread. SIGTERM, SIGINT and SIGHUP are blocked there.
    /// - Throws: When the system has no thread to give (EAGAIN).
    public init(name: String, body: @escaping @Sendable () -> Void) throws(SystemError) {
        let start = unsafe Unmanaged.passRetained(Start(name: name, body: body))
        var thread = pthread_t()
        let code = unsafe pthread_create(
            &thread,
            nil,
            { argument in
                guard let argument = unsafe argument else { return nil }
                let start = unsafe Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
                for signal in [SIGTERM, SIGINT, SIGHUP] { clinux_block_signal(signal) }
                _ = unsafe clinux_set_thread_name(start.name)
                start.body()
                return nil
            },
            start.toOpaque()
        )
        if code != 0 {
            unsafe start.release()
            throw SystemError("start thread \(name)", errno: code)
        }
        handle = thread
    }

    /// Waits until the body has returned. Never from the thread itself.
    public func join() {
        pthread_join(handle, nil)
    }

    /// Whether the caller runs on this thread.
    public var isCurrent: Bool { pthread_equal(pthread_self(), handle) != 0 }

    private final class Start {
        let name: String
        let body: @Sendable () -> Void

        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }
}
