import CaptureCore
import Synchronization

/// The counters of one output, written by its threads and reported by another. Thread-safe.
final class RecorderCounters: Sendable {
    private let state = Mutex(OutputStatistics())

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
}
