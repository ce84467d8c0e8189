/// Reckoning with times that come from a file: a row may hold any number, and none may stop the daemon.
extension Int64 {
    /// The sum, or the nearest number that there is.
    func plus(_ other: Int64) -> Int64 {
        let (sum, isBeyond) = addingReportingOverflow(other)
        return isBeyond ? (other < 0 ? .min : .max) : sum
    }

    /// The difference, or the nearest number that there is.
    func minus(_ other: Int64) -> Int64 {
        let (difference, isBeyond) = subtractingReportingOverflow(other)
        return isBeyond ? (self < other ? .min : .max) : difference
    }
}

extension AnswerTime {
    /// Milliseconds from here to a later moment: by the clock that nobody sets where both are of one start of the
    /// machine, else by the wall clock; never negative.
    func elapsed(at later: AnswerTime) -> Int64 {
        max(0, boot == later.boot && !boot.isEmpty ? later.sinceBoot.minus(sinceBoot) : later.wall.minus(wall))
    }

    /// When a span that begins here ends, in milliseconds since 1970 by the clock of its beginning.
    func end(after span: Int64) -> Int64 { wall.plus(span) }
}
