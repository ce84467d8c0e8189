import CaptureCore
import CaptureSystem

/// Something that is done on the bus thread at intervals.
final class Tick: Sendable {
    /// In nanoseconds.
    let interval: Int64
    let work: @Sendable () -> Void

    init(_ interval: Int64, _ work: @escaping @Sendable () -> Void) {
        self.interval = interval
        self.work = work
    }
}

extension BusCore {
    /// Begins with the next turn of the thread.
    func begin(_ tick: Tick) {
        ticks[ObjectIdentifier(tick)] = (tick, .now)
    }

    func end(_ tick: Tick) {
        ticks[ObjectIdentifier(tick)] = nil
    }

    /// Does what is due.
    func tick() {
        for (id, (tick, due)) in ticks where due <= .now {
            ticks[id]?.due = Timestamp.now.advanced(by: tick.interval)
            tick.work()
        }
    }
}
