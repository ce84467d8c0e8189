/// Spans of time as systemd.time(7) writes them.
public enum TimeSpan {
    /// The milliseconds of a span as in `90`, `2min`, `1min 30s`, `7d`: seconds if there is no unit; a year has 365.25
    /// days.
    ///
    /// - Returns: `nil` for a text that is no span, or a span that is far too long.
    public static func parse(_ text: String) -> Int64? {
        var total: Int64 = 0
        var rest = text[...].drop { $0 == " " }
        guard !rest.isEmpty else { return nil }
        while !rest.isEmpty {
            let digits = rest.prefix { ("0"..."9").contains($0) }
            guard let number = Int64(digits), number <= 86_400_000 else { return nil }
            rest = rest.dropFirst(digits.count).drop { $0 == " " }
            let word = rest.prefix { $0.isLetter }
            rest = rest.dropFirst(word.count).drop { $0 == " " }
            guard let unit = milliseconds(of: word) else { return nil }
            let (sum, isTooLong) = total.addingReportingOverflow(number * unit)
            if isTooLong { return nil }
            total = sum
        }
        return total
    }

    private static func milliseconds(of unit: Substring) -> Int64? {
        switch unit {
        case "ms", "msec": 1
        case "", "s", "sec", "second", "seconds": 1000
        case "m", "min", "minute", "minutes": 60_000
        case "h", "hr", "hour", "hours": 3_600_000
        case "d", "day", "days": 86_400_000
        case "w", "week", "weeks": 604_800_000
        case "y", "year", "years": 31_557_600_000
        default: nil
        }
    }
}

extension Duration {
    /// Whole nanoseconds, as many as fit.
    package var nanoseconds: Int64 {
        let (seconds, isTooLong) = components.seconds.multipliedReportingOverflow(by: 1_000_000_000)
        return isTooLong ? components.seconds.signum() * Int64.max : seconds + components.attoseconds / 1_000_000_000
    }
}
