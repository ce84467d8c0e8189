import CaptureCore
import CaptureSystem
import Glibc

/// A moment by the clock on the wall, in the machine's zone.
struct WallTime: Sendable {
    /// Seconds since 1970, UTC.
    let seconds: Int64
    /// Behind them, up to a second.
    let nanoseconds: Int64
    /// Seconds by which the zone is ahead of UTC.
    let offset: Int64

    init(seconds: Int64, nanoseconds: Int64, offset: Int64) {
        self.seconds = seconds
        self.nanoseconds = nanoseconds
        self.offset = offset
    }

    /// The moment of a timestamp. The zone is that which `MediaDate.learnZone` has read.
    init(_ time: Timestamp) {
        var now = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        let passed = Timestamp.now - time
        let present = Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
        // A damaged ring may say any time.
        let all = present - min(max(passed, -(1 << 61)), 1 << 61)
        seconds = all.quotientAndRemainder(dividingBy: 1_000_000_000).quotient
        nanoseconds = max(all % 1_000_000_000, 0)
        var clock = time_t(seconds)
        var parts = unsafe tm()
        unsafe localtime_r(&clock, &parts)
        offset = unsafe Int64(parts.tm_gmtoff)
    }

    /// Nanoseconds since 1970.
    var sinceEpoch: Int64 { seconds.multipliedReportingOverflow(by: 1_000_000_000).partialValue &+ nanoseconds }

    /// As EXIF writes it, `2024:05:01 14:30:45`, of the zone.
    var exif: String { local("%Y:%m:%d %H:%M:%S") }

    /// The zone, `+02:00`.
    var zone: String {
        let minutes = abs(offset) / 60
        return "\(offset < 0 ? "-" : "+")\(String(minutes / 60, digits: 2)):\(String(minutes % 60, digits: 2))"
    }

    /// Thousandths of the second, `678`.
    var thousandths: String { String(nanoseconds / 1_000_000, digits: 3) }

    /// As ISO 8601 has it, of the zone: `2024-05-01T14:30:45.678+02:00`.
    var iso: String { local("%Y-%m-%dT%H:%M:%S") + "." + thousandths + zone }

    /// The same, of UTC: `2024-05-01T12:30:45.678Z`.
    var utc: String { text("%Y-%m-%dT%H:%M:%S", of: seconds) + "." + thousandths + "Z" }

    /// The same, to the microsecond.
    var precise: String { text("%Y-%m-%dT%H:%M:%S", of: seconds) + "." + String(nanoseconds / 1000, digits: 6) + "Z" }

    /// In the zone, by a pattern of strftime.
    func local(_ pattern: String) -> String { text(pattern, of: seconds + offset) }

    /// Year, month, day, hour, minute and second, UTC.
    var parts: [Int] {
        text("%Y %m %d %H %M %S", of: seconds).split(separator: " ").map { Int($0) ?? 0 }
    }

    private func text(_ pattern: String, of seconds: Int64) -> String {
        var clock = time_t(seconds)
        var parts = unsafe tm()
        unsafe gmtime_r(&clock, &parts)
        var letters = [CChar](repeating: 0, count: 64)
        let count = unsafe strftime(&letters, letters.count, pattern, &parts)
        return String(decoding: letters[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
