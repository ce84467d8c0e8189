import CaptureCore

/// The arithmetic of a sound card's counters and stamps. Pure.
enum SoundTiming {
    /// When the oldest unread sample frame was captured.
    ///
    /// - Parameters:
    ///   - stamp: When the driver last looked at its hardware.
    ///   - available: The sample frames that were unread at that moment.
    ///   - rate: Sample frames a second.
    static func first(stamp: Timestamp, available: Int, rate: Int) -> Timestamp {
        stamp.advanced(by: -nanoseconds(Int64(available), rate))
    }

    /// How long a number of sample frames takes, to the nearest nanosecond.
    static func nanoseconds(_ frames: Int64, _ rate: Int) -> Int64 {
        let rate = Int64(rate)
        // Whole seconds first, so that the product stays small.
        let (seconds, rest) = frames.quotientAndRemainder(dividingBy: rate)
        return seconds * 1_000_000_000 + (rest * 1_000_000_000 + (rest < 0 ? -rate : rate) / 2) / rate
    }

    /// How many sample frames fit between the time at which the next one was expected and that at which it came: what
    /// an interruption of the stream has cost, to the nearest sample frame; 0 when it came early.
    static func missing(expected: Timestamp, found: Timestamp, rate: Int) -> Int64 {
        let gap = found - expected
        if gap <= 0 { return 0 }
        let (seconds, rest) = gap.quotientAndRemainder(dividingBy: 1_000_000_000)
        return seconds * Int64(rate) + (rest * Int64(rate) + 500_000_000) / 1_000_000_000
    }

    /// Whether a number of unread sample frames is plausible. A free-running stream that was left alone can have days
    /// of them; a number that overflows when time is computed is a lie.
    static func isPossible(available: Int) -> Bool { (0...1 << 36).contains(available) }

    /// Converts a driver's timestamp; `nil` if the monotonic clock cannot have shown it about `now`.
    static func stamp(seconds: Int, nanoseconds: Int, now: Timestamp) -> Timestamp? {
        guard (0...1 << 32).contains(seconds), (0..<1_000_000_000).contains(nanoseconds) else { return nil }
        let stamp = Timestamp(seconds: seconds, nanoseconds: nanoseconds)
        return abs(now - stamp) < 10_000_000_000 ? stamp : nil
    }

    /// Whether the hardware writes over the oldest unread sample frames, or is about to: it is within a period of them. A
    /// buffer of two periods has one of them unread all the time; there it is an eighth of the buffer.
    static func isOverrun(available: Int, buffer: Int, period: Int) -> Bool {
        available > buffer - (buffer >= 3 * period ? period : buffer / 8)
    }

    /// How many of the oldest unread sample frames to give up: none without an overrun, else all but half a buffer of the
    /// newest, so that the next overrun is far.
    static func overrun(available: Int, buffer: Int, period: Int) -> Int64 {
        isOverrun(available: available, buffer: buffer, period: period) ? Int64(available - buffer / 2) : 0
    }
}
