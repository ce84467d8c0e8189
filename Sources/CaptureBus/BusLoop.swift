import CaptureCore
import CaptureSystem
import Glibc
import Synchronization

/// The one thread that a connection's sd-bus objects belong to, and the way in for everyone else.
///
/// Thread-safe. Work is done in the order in which it was posted; the `BusCore` it is given cannot leave the thread,
/// because it is not Sendable.
final class BusLoop: Sendable {
    typealias Work = @Sendable (BusCore) -> Void

    private struct State {
        var work: [Work] = []
        var isStopping = false
        var hasEnded = false
    }

    private let state = Mutex(State())
    private let wake: EventSignal

    private init() throws(SystemError) {
        wake = try EventSignal()
    }

    /// Connects on a new thread.
    ///
    /// - Returns: The loop and the connection's unique name.
    static func start(_ kind: BusKind) async throws(CaptureError) -> (BusLoop, String) {
        let loop: BusLoop
        do throws(SystemError) { loop = try BusLoop() } catch { throw CaptureError(.internalFault, error) }
        let opened: Result<String, CaptureError> = await withCheckedContinuation { continuation in
            do throws(SystemError) {
                _ = try WorkerThread(name: "bus") {
                    // Nobody joins it: the last reference to a connection may go on this very thread.
                    pthread_detach(pthread_self())
                    do throws(CaptureError) {
                        let core = try BusCore(kind, loop: loop)
                        continuation.resume(returning: .success(core.uniqueName))
                        loop.run(core)
                    } catch {
                        continuation.resume(returning: .failure(error))
                    }
                }
            } catch {
                continuation.resume(returning: .failure(CaptureError(.internalFault, error)))
            }
        }
        return (loop, try opened.get())
    }

    /// Hands work to the bus thread.
    ///
    /// - Returns: `false` when the thread has ended: the work will not be done.
    @discardableResult
    func post(_ work: @escaping Work) -> Bool {
        let isPosted = state.withLock { state in
            if !state.hasEnded { state.work.append(work) }
            return !state.hasEnded
        }
        if isPosted { wake.raise() }
        return isPosted
    }

    /// Does work on the bus thread and waits for its result.
    func perform<Value: Sendable>(
        _ work: @escaping @Sendable (BusCore) throws(CaptureError) -> Value
    ) async throws(CaptureError) -> Value {
        try await perform { core, done in
            done(Result { () throws(CaptureError) in try work(core) })
        }
    }

    /// Starts work on the bus thread and waits until it calls its second argument, which it does exactly once.
    func perform<Value: Sendable>(
        _ work: @escaping @Sendable (BusCore, @escaping @Sendable (Result<Value, CaptureError>) -> Void) -> Void
    ) async throws(CaptureError) -> Value {
        let result: Result<Value, CaptureError> = await withCheckedContinuation { continuation in
            if !post({ work($0, { continuation.resume(returning: $0) }) }) {
                continuation.resume(returning: .failure(BusCore.closed))
            }
        }
        return try result.get()
    }

    /// Ends the thread after the work posted so far.
    func stop() {
        state.withLock { $0.isStopping = true }
        wake.raise()
    }

    /// Does what was posted. The closures, and the descriptors in them, are gone when this returns, not only after the
    /// next sleep.
    ///
    /// - Returns: Whether the thread is to end.
    private func work(on core: BusCore) -> Bool {
        wake.lower()
        let (work, isStopping) = state.withLock { state in
            defer { state.work = [] }
            return (state.work, state.isStopping)
        }
        for item in work { item(core) }
        return isStopping
    }

    private func run(_ core: BusCore) {
        while true {
            let isStopping = work(on: core)
            if isStopping {
                core.close(BusCore.closed)
                break
            }
            core.tick()
            if let reason = core.process() ?? wait(core) {
                core.close(reason)
                break
            }
        }
        // What was posted meanwhile finds a closed core, and answers so.
        let rest = state.withLock { state in
            state.hasEnded = true
            defer { state.work = [] }
            return state.work
        }
        for item in rest { item(core) }
    }

    /// Sleeps until the bus has something, its nearest timeout, the next tick, or work.
    private func wait(_ core: BusCore) -> CaptureError? {
        guard let interest = core.pollInterest() else { return BusCore.lost }
        var files = [
            pollfd(fd: interest.descriptor, events: interest.events, revents: 0),
            pollfd(fd: wake.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        let ready = unsafe poll(&files, 2, interest.milliseconds)
        if ready < 0, errno != EINTR { return CaptureError(.internalFault, SystemError("poll the bus", errno: errno)) }
        return nil
    }
}
