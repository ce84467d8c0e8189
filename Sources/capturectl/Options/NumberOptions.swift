import CaptureKit

/// The ranges of numeric options, checked before anything is opened or anyone is asked.
///
/// The options themselves are parsed with `.unconditional`: a number below zero is a value to be told about, not the next
/// option.
enum NumberOptions {
    /// Refuses a number that is out of range, by the option's name, as in `--count: -3 is out of range: 1 or more`.
    static func check(_ value: Int?, _ option: String, _ range: ClosedRange<Int>) throws(CaptureError) {
        guard let value, !range.contains(value) else { return }
        let end = range.upperBound == .max ? "or more" : "to \(range.upperBound)"
        throw refusal(option, "\(value)", "\(range.lowerBound) \(end)")
    }

    /// Refuses a duration that ends before it begins, or never.
    static func check(duration seconds: Double?) throws(CaptureError) {
        guard let seconds, !(seconds > 0 && seconds <= 31_536_000) else { return }
        // As it was typed: -1, not -1.0.
        let text = Int(exactly: seconds).map { "\($0)" } ?? "\(seconds)"
        throw refusal("--duration", text, "seconds above 0, at most a year")
    }

    private static func refusal(_ option: String, _ value: String, _ range: String) -> CaptureError {
        CaptureError(.usage, "\(option): \(value) is out of range: \(range)")
    }
}
