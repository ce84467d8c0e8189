import CaptureKit
import Glibc

/// Numbers in the form that a person reads.
enum Quantities {
    /// `1:02:03.4` or `02:03.4`: hours only when there are any, tenths of a second.
    static func time(_ nanoseconds: Int64) -> String {
        let tenths = (max(0, nanoseconds) + 50_000_000) / 100_000_000
        let (hours, minutes) = (tenths / 36_000, tenths / 600 % 60)
        let rest = "\(String(minutes, digits: 2)):\(String(tenths / 10 % 60, digits: 2)).\(tenths % 10)"
        return hours == 0 ? rest : "\(hours):\(rest)"
    }

    /// The same in whole seconds that have passed, as in `02:03`.
    static func seconds(_ nanoseconds: Int64) -> String {
        let seconds = max(0, nanoseconds) / 1_000_000_000
        return String(time(seconds * 1_000_000_000).dropLast(2))
    }

    /// `1 camera`, `2 cameras`.
    static func count(_ number: some BinaryInteger, _ noun: String) -> String {
        "\(number) \(noun)\(number == 1 ? "" : "s")"
    }

    /// `512 B`, `1.5 KiB`, `3.0 GiB`.
    static func size(_ bytes: UInt64) -> String {
        if bytes < 1024 { return "\(bytes) B" }
        var value = Double(bytes)
        for unit in ["KiB", "MiB", "GiB"] {
            value /= 1024
            if value < 1023.95 { return "\(tenth(value)) \(unit)" }
        }
        return "\(tenth(value / 1024)) TiB"
    }

    /// One digit behind the point.
    static func tenth(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(abs(tenths % 10))"
    }

    /// Thousandths of full scale as decibels below it, as in `-12 dB`; silence is `-inf dB`.
    static func level(_ peak: Int) -> String {
        guard peak > 0 else { return "-inf dB" }
        return "\(Int(decibels(peak).rounded())) dB"
    }

    /// As in `+6 dB` or `-4.5 dB`.
    static func gain(_ decibels: Double) -> String {
        (decibels > 0 ? "+" : "") + (Int(exactly: decibels).map { "\($0)" } ?? tenth(decibels)) + " dB"
    }

    /// Thousandths of full scale as decibels below it.
    static func decibels(_ peak: Int) -> Double {
        20 * log10(Double(min(max(peak, 1), 1000)) / 1000)
    }

    /// `12.5` or `30`.
    static func rate(_ value: Double) -> String {
        let hundredths = Int((value * 100).rounded())
        if hundredths % 100 == 0 { return "\(hundredths / 100)" }
        return hundredths % 10 == 0
            ? "\(hundredths / 100).\(hundredths % 100 / 10)"
            : "\(hundredths / 100).\(String(hundredths % 100, digits: 2))"
    }
}
