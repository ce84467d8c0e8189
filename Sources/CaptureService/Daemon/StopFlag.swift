import Synchronization

/// Tells a thread that what it does is wanted no longer. Thread-safe.
final class StopFlag: Sendable {
    private let flag = Atomic(false)

    /// Whether it is to stop.
    var isRaised: Bool { flag.load(ordering: .acquiring) }

    /// Has it stop.
    func raise() { flag.store(true, ordering: .releasing) }
}
