import CaptureCore

/// The time between two dates as spans that are counted already, and the short rests at both ends.
struct DateSpans: Hashable {
    /// Spans of one width, one after the other.
    struct Tallied: Hashable {
        /// The width, as in `tally`.
        var level: Int64
        /// Which of that width, counted from 1970.
        var buckets: Range<Int64>
    }

    /// How many of them there are at most.
    static let most = 2 * TallySchema.levels.count

    /// Long before and after every date that an asset may have, and far enough from where numbers end.
    private static let farthest: Int64 = 1 << 60

    private(set) var tallied: [Tallied] = []
    private(set) var rest: [Range<Int64>] = []

    /// - Parameters:
    ///   - from: The first moment, in milliseconds since 1970; `nil` for the beginning.
    ///   - until: The first moment after it; `nil` for no end.
    init(from: Int64?, until: Int64?) {
        guard from != nil || until != nil else {
            tallied = [Tallied(level: TallySchema.allTime, buckets: 0..<1)]
            return
        }
        let farthest = DateSpans.farthest
        var low = min(max(from ?? -farthest, -farthest), farthest)
        var high = min(max(until ?? farthest, low), farthest)
        let levels = TallySchema.levels
        cut(&low, &high, to: levels[0]) { rest.append($0) }
        for (level, wider) in zip(levels, levels.dropFirst()) {
            cut(&low, &high, to: wider) { tallied.append(Tallied(level: level, buckets: $0 >> level)) }
        }
        if low < high, let widest = levels.last {
            tallied.append(Tallied(level: widest, buckets: (low..<high) >> widest))
        }
    }

    /// Cuts off what stands over at both ends beyond whole spans of a width.
    private func cut(
        _ low: inout Int64,
        _ high: inout Int64,
        to level: Int64,
        _ take: (Range<Int64>) -> Void
    ) {
        let width: Int64 = 1 << level
        let first = min((low + width - 1) & -width, high)
        if low < first { take(low..<first) }
        low = first
        let last = max(high & -width, low)
        if last < high { take(last..<high) }
        high = last
    }
}

extension Range<Int64> {
    /// The range of the bounds' spans.
    fileprivate static func >> (range: Range, level: Int64) -> Range {
        (range.lowerBound >> level)..<(range.upperBound >> level)
    }
}
