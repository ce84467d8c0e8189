import Glibc

extension AnswerTime {
    /// The moment now.
    public static var now: AnswerTime {
        AnswerTime(wall: milliseconds(CLOCK_REALTIME), sinceBoot: milliseconds(CLOCK_BOOTTIME), boot: bootID)
    }

    private static func milliseconds(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// Empty where `/proc` does not say, which compares as another boot than any.
    private static let bootID: String = {
        guard case .text(let text) = SmallFile.read("/proc/sys/kernel/random/boot_id", limit: 64) else { return "" }
        return String(text.prefix { $0 != "\n" })
    }()
}
