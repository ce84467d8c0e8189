import Glibc

/// Waits until one of a few descriptors has something to read: poll(2).
public enum Poll {
    /// What a descriptor had.
    public struct Ready: OptionSet, Sendable {
        /// The bits of poll(2).
        public var rawValue: Int16

        /// Readiness of the given bits.
        public init(rawValue: Int16) {
            self.rawValue = rawValue
        }

        /// Something to read.
        public static let readable = Ready(rawValue: Int16(POLLIN))
        /// Room to write.
        public static let writable = Ready(rawValue: Int16(POLLOUT))
        /// The device or the peer failed or is gone.
        public static let failed = Ready(rawValue: Int16(POLLERR | POLLHUP | POLLNVAL))
        /// Something out of the ordinary: a V4L2 event.
        public static let exceptional = Ready(rawValue: Int16(POLLPRI))
    }

    /// Waits for either of two descriptors; allocates nothing.
    ///
    /// - Parameters:
    ///   - first: The first descriptor.
    ///   - events: What the first one is to have.
    ///   - second: The second.
    ///   - timeout: Milliseconds; -1 without limit.
    /// - Returns: What each had; both empty when the time ran out.
    public static func wait(
        _ first: Int32,
        for events: Ready = .readable,
        _ second: Int32,
        timeout: Int32 = -1
    ) throws(SystemError) -> (Ready, Ready) {
        var pair = (
            pollfd(fd: first, events: events.rawValue, revents: 0),
            pollfd(fd: second, events: Int16(POLLIN), revents: 0)
        )
        try SystemError.check("poll") {
            unsafe withUnsafeMutablePointer(to: &pair) {
                unsafe $0.withMemoryRebound(to: pollfd.self, capacity: 2) { unsafe poll($0, 2, timeout) }
            }
        }
        return (Ready(rawValue: pair.0.revents), Ready(rawValue: pair.1.revents))
    }

    /// Waits for one descriptor.
    public static func wait(_ descriptor: Int32, for events: Ready = .readable, timeout: Int32 = -1) throws(SystemError)
        -> Ready
    {
        var one = pollfd(fd: descriptor, events: events.rawValue, revents: 0)
        try SystemError.check("poll") { unsafe poll(&one, 1, timeout) }
        return Ready(rawValue: one.revents)
    }
}
