import Authorization
import CaptureBus
import CaptureCore
import CaptureSystem
import Synchronization

/// A caller as it was identified, with what tells that it is still the same. Thread-safe.
final class PinnedCaller: Sendable {
    let identity: ClientIdentity
    private let pin: PeerPin
    /// When it was looked at, in nanoseconds.
    private let looked: Atomic<Int64>
    /// How old a look may be, in nanoseconds: calls that come in a row cost one.
    private static let oldest: Int64 = 5_000_000

    /// A caller that was looked at just now.
    init(_ identity: ClientIdentity, _ pin: PeerPin) {
        self.identity = identity
        self.pin = pin
        looked = Atomic(Timestamp.now.nanoseconds)
    }

    /// Whether its process lives and runs the same file, as of some milliseconds ago at most.
    var isUnchanged: Bool {
        let now = Timestamp.now.nanoseconds
        if now - looked.load(ordering: .relaxed) < PinnedCaller.oldest { return true }
        guard pin.isUnchanged else { return false }
        looked.store(now, ordering: .relaxed)
        return true
    }
}
