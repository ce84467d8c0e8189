import CaptureKit
import Glibc

/// The wall clock, for people.
enum Clock {
    /// A moment.
    struct Moment {
        /// Seconds since 1970.
        var seconds: Int64

        /// As in `2026-03-01 12:34:56`, in local time.
        var text: String { "\(day) \(clock)" }

        /// As in `2026-03-01`, in local time.
        var day: String {
            let parts = unsafe local
            return unsafe "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
        }

        /// As in `12:34:56`, in local time.
        var clock: String {
            let parts = unsafe local
            return unsafe "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))"
        }

        /// Midnight, local time, of the same day or one some days away.
        func midnight(days: Int32) -> Moment {
            var parts = unsafe local
            unsafe (parts.tm_hour, parts.tm_min, parts.tm_sec) = (0, 0, 0)
            unsafe parts.tm_mday += days
            unsafe parts.tm_isdst = -1
            return Moment(seconds: Int64(unsafe mktime(&parts)))
        }

        private var local: tm {
            var time = time_t(seconds)
            var parts = unsafe tm()
            unsafe localtime_r(&time, &parts)
            return unsafe parts
        }

        private func two(_ value: Int32) -> String { String(value, digits: 2) }
    }

    static func now() -> Moment { Moment(seconds: Int64(time(nil))) }
}
