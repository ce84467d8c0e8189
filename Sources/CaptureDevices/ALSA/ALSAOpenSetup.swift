import Synchronization

/// The stream that a microphone has open, until it is closed. Thread-safe.
final class ALSAOpenSetup: Sendable {
    private let setup: Mutex<PCMSetup?>

    init(_ setup: PCMSetup) { self.setup = Mutex(setup) }

    var current: PCMSetup? { setup.withLock { $0 } }

    /// Lets go; alsa-lib closes the stream with the last reference.
    func close() { setup.withLock { $0 = nil } }
}
