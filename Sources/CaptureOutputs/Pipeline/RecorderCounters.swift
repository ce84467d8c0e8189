import CaptureCore
import Synchronization

/// The counters of one output, written by its threads and reported by another. Thread-safe.
final class RecorderCounters: Sendable {
    private let state = Mutex(OutputStatistics())
    private let fed = Atomic(false)
    private let whenFed: @Sendable () -> Void

    /// Counters at zero.
    ///
    /// - Parameter whenFed: Called when the output has all that it takes of its streams.
    init(whenFed: @escaping @Sendable () -> Void = {}) {
        self.whenFed = whenFed
    }

    /// Whether the output has all that it takes of its streams, and is only to be finished.
    var isFed: Bool { fed.load(ordering: .acquiring) }

    /// The counters now.
    var now: OutputStatistics { state.withLock { $0 } }

    /// The counters for a report; the loudest sample starts anew.
    func report() -> OutputStatistics {
        state.withLock { counters in
            defer { counters.peak = 0 }
            return counters
        }
    }

    /// Changes some of them.
    func update(_ change: (inout OutputStatistics) -> Void) {
        state.withLock { change(&$0) }
    }

    /// Changes some of them: the output has all that it takes of its streams.
    func feed(_ change: (inout OutputStatistics) -> Void) {
        update(change)
        fed.store(true, ordering: .releasing)
        whenFed()
    }
}
