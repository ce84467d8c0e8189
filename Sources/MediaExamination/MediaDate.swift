import Glibc

/// Dates as media files write them, in milliseconds since 1970.
package enum MediaDate {
    /// Reads the machine's time zone, which the sandbox does not let a process read later.
    package static func learnZone() { tzset() }

    /// A date of EXIF, as `2024:05:01 12:30:45`; one without a zone is of the machine's.
    ///
    /// - Parameters:
    ///   - fraction: Digits of a second behind the point.
    ///   - zone: As `+02:00`.
    static func exif(_ text: String, fraction: String? = nil, zone: String? = nil) -> Int64? {
        let fields = numbers(text)
        guard fields.count >= 6 else { return nil }
        let digits = (fraction ?? "").filter(\.isWholeNumber).prefix(3)
        let thousandths = Int64(digits + repeatElement("0", count: 3 - digits.count)) ?? 0
        let offset = zone.flatMap(self.offset)
        return time(Array(fields.prefix(6)), offset: offset).map { $0 + thousandths }
    }

    /// A date of ISO 8601 with a zone, as `2024-05-01T12:30:45.678Z` and `2024-05-01T12:30:45+0200`.
    static func iso(_ text: String) -> Int64? {
        guard let letter = text.firstIndex(where: { $0 == "T" || $0 == " " }) else { return nil }
        let clock = text[text.index(after: letter)...]
        guard let end = clock.firstIndex(where: { "Z+-".contains($0) }) else { return nil }
        let fields = numbers(String(text[..<letter])) + numbers(String(clock[..<end]))
        guard fields.count >= 6, let offset = offset(String(clock[end...])) else { return nil }
        let point = clock[..<end].firstIndex(of: ".").map { String(clock[$0..<end].dropFirst().prefix(3)) } ?? ""
        let thousandths = Int64(point + String(repeating: "0", count: 3 - point.count)) ?? 0
        return time(Array(fields.prefix(6)), offset: offset).map { $0 + thousandths }
    }

    private static func numbers(_ text: String) -> [Int64] {
        text.split { !$0.isASCII || !$0.isWholeNumber }.prefix(8).map { Int64($0) ?? -1 }
    }

    /// Seconds east of Greenwich: `Z`, `+02:00`, `+0200`, `-03`.
    private static func offset(_ text: String) -> Int64? {
        if text == "Z" { return 0 }
        guard let sign = text.first, sign == "+" || sign == "-" else { return nil }
        let digits = text.filter { $0.isASCII && $0.isWholeNumber }
        guard digits.count == 2 || digits.count == 4, let hours = Int64(digits.prefix(2)), hours <= 14,
            let minutes = digits.count == 2 ? 0 : Int64(digits.suffix(2)), minutes < 60
        else { return nil }
        return (hours * 3600 + minutes * 60) * (sign == "-" ? -1 : 1)
    }

    /// Year, month, day, hour, minute and second as milliseconds; `nil` for what is in no calendar, and for the year 1904,
    /// which QuickTime writes when it does not know.
    private static func time(_ fields: [Int64], offset: Int64?) -> Int64? {
        guard (1...9999).contains(fields[0]), fields[0] != 1904, (1...12).contains(fields[1]),
            (1...31).contains(fields[2]), (0...23).contains(fields[3]), (0...59).contains(fields[4]),
            (0...60).contains(fields[5])
        else { return nil }
        var parts = unsafe tm()
        unsafe parts.tm_year = Int32(fields[0] - 1900)
        unsafe parts.tm_mon = Int32(fields[1] - 1)
        unsafe parts.tm_mday = Int32(fields[2])
        unsafe parts.tm_hour = Int32(fields[3])
        unsafe parts.tm_min = Int32(fields[4])
        unsafe parts.tm_sec = Int32(fields[5])
        unsafe parts.tm_isdst = -1
        let seconds = unsafe offset == nil ? mktime(&parts) : timegm(&parts)
        return (Int64(seconds) - (offset ?? 0)) * 1000
    }
}
