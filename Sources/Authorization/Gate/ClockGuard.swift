/// What time it is at least, however the wall clock was set.
///
/// Once the wall clock was believed, time goes on by the clock that nobody sets. After a start of the machine it is
/// believed when it is not behind the latest time that an earlier one has left on disk.
struct ClockGuard {
    private var anchor: AnswerTime?

    /// - Parameters:
    ///   - now: Both clocks.
    ///   - mark: The latest wall time that is known from before.
    /// - Returns: Milliseconds since 1970; `nil` while the wall clock is behind what it was.
    mutating func time(_ now: AnswerTime, mark: @autoclosure () -> Int64) -> Int64? {
        if let anchor, anchor.boot == now.boot, !now.boot.isEmpty {
            return max(now.wall, anchor.wall + now.sinceBoot - anchor.sinceBoot)
        }
        guard now.wall >= mark() else { return nil }
        anchor = now
        return now.wall
    }
}

/// Whether a time limit is over.
enum Standing: Hashable {
    /// It is not.
    case holds
    /// It is.
    case over
    /// The wall clock is behind what it was, so that nobody can tell: nothing is granted on it, and nothing removed.
    case unknown

    /// Whether a span that began at a moment is over.
    ///
    /// - Parameters:
    ///   - start: When it began.
    ///   - end: When it ends, in milliseconds since 1970 by the clock of its beginning.
    ///   - now: Both clocks.
    ///   - time: What time it is at least, from the clock guard.
    init(from start: AnswerTime, until end: Int64, at now: AnswerTime, time: Int64?) {
        if start.boot == now.boot, !now.boot.isEmpty {
            // Whichever clock says that more has passed.
            let passed = max(now.sinceBoot.minus(start.sinceBoot), now.wall.minus(start.wall))
            self = passed >= end.minus(start.wall) ? .over : .holds
            return
        }
        guard let time else {
            self = .unknown
            return
        }
        self = time >= end ? .over : .holds
    }
}
