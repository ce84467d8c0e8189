import CaptureCore
import Synchronization

/// A device that is open, with the ring it writes; shared by every session that uses it. Thread-safe.
final class SharedSource: Sendable {
    let device: DeviceDescription
    let source: any MediaSource

    private struct Rings {
        var present: any MediaRing
        /// The counters of the ring that is being left, as they stood when the move began.
        var leaving = RingCounters()
        /// What those before the present one have counted.
        var former = RingCounters()
        /// Those left without haste. `until`: once so many buffers have been published in all, the device holds no memory
        /// of the ring any more; `max` while it is being left.
        var left: [(ring: ObjectIdentifier, until: UInt64)] = []

        var published: UInt64 { former.published + present.counters.published }

        mutating func add(_ counters: RingCounters, since: RingCounters) {
            former.published += counters.published - since.published
            for (cause, count) in counters.drops.enumerated() { former.drops[cause] += count - since.drops[cause] }
        }
    }
    private let rings: Mutex<Rings>
    private let loss = Mutex<CaptureError?>(nil)

    init(device: DeviceDescription, source: any MediaSource, ring: any MediaRing) {
        self.device = device
        self.source = source
        rings = Mutex(Rings(present: ring))
    }

    /// The format of a camera's pictures; `nil` for a microphone.
    var pictures: VideoFormat? {
        guard case .video(let format) = source.format else { return nil }
        return format
    }

    /// The ring that it writes, or is about to.
    var ring: any MediaRing { rings.withLock { $0.present } }

    /// The counters of all rings that it has written.
    var counters: RingCounters {
        rings.withLock { rings in
            var sum = rings.present.counters
            sum.published += rings.former.published
            for (cause, count) in rings.former.drops.enumerated() { sum.drops[cause] += count }
            return sum
        }
    }

    /// Why the device stopped by itself, from before its ring ends; `nil` while it has not.
    var failure: CaptureError? { loss.withLock { $0 } }

    /// The device stopped by itself.
    func fail(_ error: CaptureError) { loss.withLock { $0 = $0 ?? error } }

    /// Whether the device may have been handed memory of a ring that it left, and not have filled it yet; `nil` asks for any
    /// ring. It fills what it was handed first, in order.
    func mayStillWrite(_ ring: (any MediaRing)?) -> Bool {
        let late = late
        return ring.map { late.contains(ObjectIdentifier($0)) } ?? !late.isEmpty
    }

    /// All such rings.
    var late: Set<ObjectIdentifier> {
        rings.withLock { rings in
            let published = rings.published
            return Set(rings.left.filter { published < $0.until }.map(\.ring))
        }
    }

    /// Replaces the ring. The device writes the one before until it has moved, and `settle` is called.
    ///
    /// - Returns: The one before.
    func go(into next: any MediaRing, atOnce: Bool) -> any MediaRing {
        rings.withLock { rings in
            let last = rings.present
            rings.leaving = last.counters
            rings.add(rings.leaving, since: RingCounters())
            rings.present = next
            let published = rings.published
            rings.left.removeAll { $0.until <= published }
            if !atOnce { rings.left.append((ObjectIdentifier(last), .max)) }
            return last
        }
    }

    /// The device has moved: counts what it still brought into the ring before.
    ///
    /// - Parameter atOnce: Whether it has no memory of former rings any more.
    func settle(_ last: any MediaRing, atOnce: Bool) {
        rings.withLock { rings in
            rings.add(last.counters, since: rings.leaving)
            if atOnce { return rings.left = [] }
            let until = rings.published + UInt64(source.slotsInFlight)
            for index in rings.left.indices where rings.left[index].ring == ObjectIdentifier(last) {
                rings.left[index].until = until
            }
        }
    }
}
