import Glibc

/// The wall clock, for people.
enum Clock {
    /// A moment.
    struct Moment {
        /// Seconds since 1970.
        var seconds: Int64

        /// As in `2026-03-01 12:34:56`, in local time.
        var text: String {
            let parts = unsafe local
            return unsafe "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday)) \(clock)"
        }

        /// As in `12:34:56`, in local time.
        var clock: String {
            let parts = unsafe local
            return unsafe "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))"
        }

        private var local: tm {
            var time = time_t(seconds)
            var parts = unsafe tm()
            unsafe localtime_r(&time, &parts)
            return unsafe parts
        }

        private func two(_ value: Int32) -> String { value < 10 ? "0\(value)" : "\(value)" }
    }

    static func now() -> Moment {
        Moment(seconds: Int64(time(nil)))
    }
}
