public import CaptureCore
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
        handle = try WorkerThread.start(name, PTHREAD_CREATE_JOINABLE, body)
    }

    /// - Parameter state: Joinable or detached. Don't change it later from outside: pthread_detach(3) reads the
    ///   thread's memory again after the thread may have freed it, at least in glibc 2.36.
    private static func start(
        _ name: String,
        _ state: Int,
        _ body: @escaping @Sendable () -> Void
    ) throws(SystemError) -> pthread_t {
        let start = unsafe Unmanaged.passRetained(Start(name: name, body: body))
        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        defer { unsafe pthread_attr_destroy(&attributes) }
        unsafe pthread_attr_setdetachstate(&attributes, Int32(state))
        var thread = pthread_t()
        let code = unsafe pthread_create(
            &thread,
            &attributes,
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
        return thread
    }

    /// Waits until the body has returned. Never from the thread itself.
    public func join() {
        pthread_join(handle, nil)
    }

    /// Lets the thread end by itself; call it instead of `join`. Only the thread itself may call it, when code on it
    /// asks it to stop.
    public func detach() {
        precondition(isCurrent)
        pthread_detach(handle)
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

extension WorkerThread {
    /// Starts a thread that nobody waits for; its resources go with it.
    public static func detached(name: String, body: @escaping @Sendable () -> Void) throws(SystemError) {
        _ = try start(name, PTHREAD_CREATE_DETACHED, body)
    }

    /// Runs work that blocks (a driver, a disk) on a thread of its own and waits for it without holding one of the
    /// cooperative pool's.
    public static func run<Value: Sendable>(
        _ name: String,
        _ work: @escaping @Sendable () throws(CaptureError) -> Value
    ) async throws(CaptureError) -> Value {
        let result: Result<Value, CaptureError> = await withCheckedContinuation { continuation in
            do throws(SystemError) {
                try detached(name: name) { continuation.resume(returning: Result(catching: work)) }
            } catch {
                continuation.resume(returning: .failure(CaptureError(.internalFault, error)))
            }
        }
        return try result.get()
    }
}
