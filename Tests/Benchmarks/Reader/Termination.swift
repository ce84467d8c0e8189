import Glibc
import Synchronization

/// That the process was told to end: SIGTERM.
///
/// By a handler, since the main thread of an asynchronous program waits with every signal let through, whatever it had blocked.
enum Termination {
    static let isAsked = Atomic<Bool>(false)

    /// From now on SIGTERM does not end the process.
    static func listen() {
        // A handler may not be the first to touch it, which takes a lock.
        isAsked.store(false, ordering: .relaxed)
        signal(SIGTERM) { _ in Termination.isAsked.store(true, ordering: .relaxed) }
    }
}
