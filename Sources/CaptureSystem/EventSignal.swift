import CLinux
import Glibc

/// A flag that a poll wakes for: eventfd(2).
///
/// Thread-safe: any thread raises, one thread lowers.
public final class EventSignal: Sendable {
    private let event: Descriptor

    /// The descriptor to poll for reading.
    public var descriptor: Int32 { event.descriptor }

    /// A flag that is down.
    public init() throws(SystemError) {
        event = Descriptor(owning: try SystemError.check("eventfd") { clinux_eventfd() })
    }

    /// Raises the flag; a poll on the descriptor returns. Safe from any thread, allocates nothing.
    public func raise() {
        var one: UInt64 = 1
        // EAGAIN means that the counter is full, so the flag is up as it is.
        _ = unsafe Glibc.write(event.descriptor, &one, 8)
    }

    /// Lowers the flag.
    public func lower() {
        var count: UInt64 = 0
        _ = unsafe Glibc.read(event.descriptor, &count, 8)
    }
}
