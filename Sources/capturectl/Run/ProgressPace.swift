import CaptureKit

/// How often the counters of an output are asked for: as often as what is shown of them changes.
struct ProgressPace {
    /// In milliseconds.
    struct Ticks: Equatable {
        /// From now to the next.
        var first: Int
        /// Between those after it.
        var interval: Int
    }

    private let isShown: Bool
    private var interval = 0

    init(isShown: Bool) {
        self.isShown = isShown
    }

    /// - Parameter counters: Those of the output, as they were just told; `nil` before they are asked for.
    /// - Returns: When to ask from now on; `nil` if that is when it would be asked anyway.
    mutating func next(after counters: OutputStatistics?) -> Ticks? {
        var ticks = Ticks(first: 250, interval: 250)
        var isInTime = true
        if !isShown {
            // They are asked for all the same: a daemon that is lost leaves them.
            ticks = Ticks(first: 2000, interval: 2000)
        } else if let counters, !counters.hasSound {
            // The line counts seconds. The counters are up to a quarter of one old, so that none is left out if they are
            // asked for in the middle of each.
            let passed = Int(max(0, counters.duration) / 1_000_000 % 1000)
            ticks = Ticks(first: 500 + (1000 - passed) % 1000, interval: 1000)
            isInTime = (200...800).contains(passed)
        }
        if isInTime, interval == ticks.interval { return nil }
        interval = ticks.interval
        return ticks
    }
}
