import CaptureKit
import Glibc

/// A moment as a person types it: a date, a date and a time, or a span of time from now.
enum MomentArgument {
    /// Which way a span counts from now.
    enum Direction {
        case past
        case future
    }

    /// Milliseconds since 1970.
    ///
    /// - Parameters:
    ///   - text: As in `2026-03-01`, `2026-03-01 12:30`, `2026-03-01T12:30:00`, `16:00` (local time), `today`, `yesterday`,
    ///     `tomorrow`, `now`, `90min`, `7d`.
    ///   - option: The option's name, for the message.
    ///   - now: Seconds since 1970.
    /// - Throws: `usage` for anything else.
    static func milliseconds(
        _ text: String,
        _ option: String,
        _ direction: Direction,
        now: Int64 = Int64(time(nil))
    ) throws(CaptureError) -> Int64 {
        let days = ["yesterday": -1, "today": 0, "tomorrow": 1]
        if text == "now" { return now * 1000 }
        if let offset = days[text] { return Clock.Moment(seconds: now).midnight(days: Int32(offset)).seconds * 1000 }
        if let date = date(text) ?? today(text, direction, now) { return date * 1000 }
        // A number by itself could be meant as a year; a span names its unit.
        if let span = TimeSpan.parse(text), text.contains(where: \.isLetter) {
            return direction == .past ? now * 1000 - span : now * 1000 + span
        }
        throw CaptureError(
            .usage,
            "\(option): '\(Printable.text(text))' is not a time; give a date as in 2026-03-01 or '2026-03-01 12:30', a time "
                + "of day as in 16:00, or a span as in 90min, 12h or 7d"
        )
    }

    /// Seconds since 1970 of a time of day alone, as in `16:00`: the last one, or the next.
    private static func today(_ text: String, _ direction: Direction, _ now: Int64) -> Int64? {
        guard text.contains(":"), !text.contains(" ") else { return nil }
        func on(_ days: Int32) -> Int64? { date("\(Clock.Moment(seconds: now).midnight(days: days).day) \(text)") }
        guard let today = on(0) else { return nil }
        switch direction {
        case .past: return today <= now ? today : on(-1)
        case .future: return today > now ? today : on(1)
        }
    }

    /// Seconds since 1970 of a local date, at midnight or at a time of day.
    private static func date(_ text: String) -> Int64? {
        let halves = text.split(maxSplits: 1, omittingEmptySubsequences: false) { $0 == " " || $0 == "T" }
        guard let day = halves.first.flatMap({ numbers($0, "-", [4...4, 2...2, 2...2]) }) else { return nil }
        var clock: [Int32] = [0, 0, 0]
        if halves.count == 2 {
            guard
                let found = numbers(halves[1], ":", [1...2, 2...2, 2...2]) ?? numbers(halves[1], ":", [1...2, 2...2])
            else { return nil }
            clock = found + (found.count == 2 ? [0] : [])
        }
        guard (0...23).contains(clock[0]), (0...59).contains(clock[1]), (0...59).contains(clock[2]) else { return nil }
        var parts = unsafe tm()
        unsafe parts.tm_year = day[0] - 1900
        unsafe parts.tm_mon = day[1] - 1
        unsafe parts.tm_mday = day[2]
        unsafe parts.tm_hour = clock[0]
        unsafe parts.tm_min = clock[1]
        unsafe parts.tm_sec = clock[2]
        unsafe parts.tm_isdst = -1
        let seconds = unsafe mktime(&parts)
        // The 31st of February would have become another day.
        guard unsafe parts.tm_mon == day[1] - 1, unsafe parts.tm_mday == day[2] else { return nil }
        return Int64(seconds)
    }

    private static func numbers(_ text: Substring, _ mark: Character, _ digits: [ClosedRange<Int>]) -> [Int32]? {
        let words = text.split(separator: mark, omittingEmptySubsequences: false)
        guard words.count == digits.count else { return nil }
        var result: [Int32] = []
        for (word, count) in zip(words, digits) {
            guard count.contains(word.count), word.allSatisfy({ ("0"..."9").contains($0) }), let number = Int32(word)
            else { return nil }
            result.append(number)
        }
        return result
    }
}
