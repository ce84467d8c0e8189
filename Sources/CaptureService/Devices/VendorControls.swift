import Synchronization

/// The cameras' own controls that the administrator allows programs to write, by V4L2's number. Thread-safe.
final class VendorControls: Sendable {
    private let ids = Mutex<Set<UInt32>>([])

    /// Those that are allowed now.
    var allowed: Set<UInt32> { ids.withLock { $0 } }

    /// Allows these and no others.
    func allow(_ allowed: Set<UInt32>) { ids.withLock { $0 = allowed } }
}
