import CaptureKit
import Glibc

/// The form of times, durations and ids in the output of `--json`.
extension JSON {
    /// A time, as in `2026-03-01T12:34:56Z`.
    static func time(seconds: Int64) -> JSON { time(seconds, fraction: 0, digits: 0) }

    /// A time, as in `2026-03-01T12:34:56.789Z`.
    static func time(milliseconds: Int64) -> JSON { time(milliseconds, per: 1000, digits: 3) }

    /// A time, as in `2026-03-01T12:34:56.123456789Z`.
    static func time(nanoseconds: Int64) -> JSON { time(nanoseconds, per: 1_000_000_000, digits: 9) }

    /// A duration, in seconds.
    static func seconds(milliseconds: Int64) -> JSON { JSON(Double(milliseconds) / 1000) }

    /// A duration, in seconds.
    static func seconds(nanoseconds: Int64) -> JSON { JSON(Double(nanoseconds) / 1e9) }

    /// A numeric id, as a string, because not all programs keep every digit of a large number.
    static func id(_ number: some BinaryInteger) -> JSON { .string("\(number)") }

    private static func time(_ value: Int64, per second: Int64, digits: Int) -> JSON {
        let fraction = (value % second + second) % second
        return time((value - fraction) / second, fraction: fraction, digits: digits)
    }

    private static func time(_ seconds: Int64, fraction: Int64, digits: Int) -> JSON {
        var time = time_t(seconds)
        var parts = unsafe tm()
        guard unsafe gmtime_r(&time, &parts) != nil else { return .null }
        let day = unsafe [(parts.tm_year + 1900, 4), (parts.tm_mon + 1, 2), (parts.tm_mday, 2)]
        let clock = unsafe [(parts.tm_hour, 2), (parts.tm_min, 2), (parts.tm_sec, 2)]
        func text(_ numbers: [(Int32, Int)], _ separator: String) -> String {
            numbers.map { String($0.0, digits: $0.1) }.joined(separator: separator)
        }
        let rest = digits == 0 ? "" : "." + String(fraction, digits: digits)
        return .string("\(text(day, "-"))T\(text(clock, ":"))\(rest)Z")
    }
}
