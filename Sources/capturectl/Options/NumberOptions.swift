import CaptureKit

/// The ranges of numeric options, checked before anything is opened or anyone is asked.
///
/// The options themselves are parsed with `.unconditional`, so that a negative number is a value to refuse, not the next
/// option.
enum NumberOptions {
    /// Refuses a number that is out of range, naming the option, as in `--count: -3 is out of range: 1 or more`.
    static func check(_ value: Int?, _ option: String, _ range: ClosedRange<Int>) throws(CaptureError) {
        guard let value, !range.contains(value) else { return }
        let end = range.upperBound == .max ? "or more" : "to \(range.upperBound)"
        throw refusal(option, "\(value)", "\(range.lowerBound) \(end)")
    }

    /// Seconds as a person types them: `90`, `2.5`, `10s`, `1m30s`.
    ///
    /// - Throws: `usage` for anything else.
    static func seconds(_ text: String) throws -> Double {
        if let number = Double(text) { return number }
        if let span = TimeSpan.parse(text) { return Double(span) / 1000 }
        throw CaptureError(.usage, "give seconds, or a span of time as in 10s or 1m30s")
    }

    /// Numbers with commas between them, as in `-1,0,1.5`.
    ///
    /// - Throws: `usage` for anything else.
    static func list(_ text: String) throws -> [Double] {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { part -> Double? in
            let words = part.split(separator: " ")
            guard words.count == 1, words[0].allSatisfy({ "+-.0123456789".contains($0) }) else { return nil }
            return Double(words[0])
        }
        guard numbers.count == parts.count, numbers.allSatisfy(\.isFinite) else {
            throw CaptureError(.usage, "give numbers with commas between them, as in -1,0,1")
        }
        return numbers
    }

    /// The size of a picture, as in `1920x1080`.
    ///
    /// - Throws: `usage` for anything else.
    static func size(_ text: String) throws -> PictureSize {
        guard let size = PictureSize(text) else {
            throw CaptureError(.usage, "give a width and a height of 1 to 65535 pixels, as in 1920x1080")
        }
        return size
    }

    /// Bytes as a person types them: `65536`, `500M`, `1.5G`.
    ///
    /// - Throws: `usage` for anything else.
    static func bytes(_ text: String) throws -> Int64 {
        guard let bytes = ByteSize.parse(text) else {
            throw CaptureError(.usage, "give bytes, or a size as in 500M or 1.5G: K, M, G and T are powers of 1024")
        }
        return bytes
    }

    /// Refuses a duration that is not positive or is too long.
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
