import CaptureCore
import Synchronization

/// The counters of one output, written by its threads and reported by another. Thread-safe.
final class RecorderCounters: Sendable {
    private let state = Mutex(OutputStatistics())
    private let fed = Atomic(false)
    private let watched = Atomic(false)
    private let fresh = Atomic(false)
    private let told = Mutex<[RecorderReport]>([])
    private let wake: @Sendable () -> Void

    /// Counters at zero.
    ///
    /// - Parameter wake: Called when there is something to report at once: the output has all that it takes of its
    ///   streams, or levels were measured that are watched.
    init(wake: @escaping @Sendable () -> Void = {}) {
        self.wake = wake
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
        wake()
    }

    // MARK: Reports

    /// Takes a report that is to be sent at once.
    func note(_ report: RecorderReport) {
        told.withLock { $0.append(report) }
        wake()
    }

    /// The reports that are to be sent, once.
    func takeReports() -> [RecorderReport] {
        told.withLock { told in
            defer { told = [] }
            return told
        }
    }

    // MARK: Levels

    /// Whether each measured level is to be reported.
    func watchLevels(_ isWatched: Bool) { watched.store(isWatched, ordering: .releasing) }

    /// Takes levels that were measured.
    func note(_ levels: [AudioLevel]) {
        update { $0.levels = levels }
        guard watched.load(ordering: .acquiring) else { return }
        fresh.store(true, ordering: .releasing)
        wake()
    }

    /// The levels that are to be reported, once.
    func takeLevels() -> [AudioLevel]? {
        fresh.exchange(false, ordering: .acquiringAndReleasing) ? now.levels : nil
    }
}
