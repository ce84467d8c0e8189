import CaptureCore
import Synchronization

/// How fast something comes that is copied: what comes slowly, as from a pipe that is written to now and then, may take as
/// long as it takes, but not while others wait for their turn. Thread-safe.
final class CopyPace: Sendable {
    /// Bytes a second below which a copy is slow.
    static let leastRate: Int64 = 65_536

    private let patience: Duration
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state = Mutex<(began: ContinuousClock.Instant?, bytes: Int64)>((nil, 0))

    /// Of a copy that begins with its first byte: until then it is not the caller's doing how long it takes.
    ///
    /// - Parameters:
    ///   - patience: For how long each may be slow.
    ///   - now: What tells the time.
    init(patience: Duration, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        self.patience = patience
        self.now = now
    }

    /// Counts what came.
    ///
    /// - Parameter isAwaited: Whether others wait for their turn.
    /// - Throws: `timedOut` for a slow one that others wait for.
    func count(_ more: Int, isAwaited: Bool) throws(CaptureError) {
        let now = now()
        let (elapsed, bytes) = state.withLock { state in
            let began = state.began ?? now
            state = (began, state.bytes + Int64(more))
            return (began.duration(to: now), state.bytes)
        }
        let least = elapsed / .seconds(1) * Double(Self.leastRate)
        guard isAwaited, elapsed > patience, Double(bytes) < least else { return }
        throw CaptureError(
            .timedOut,
            "\(bytes) bytes came in \(elapsed.components.seconds) s while other imports waited for their turn; write it to "
                + "a file first, and import that"
        )
    }
}
