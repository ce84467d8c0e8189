import CaptureCore
import Synchronization

/// A device that is open, with the ring it writes; shared by every session that uses it. Thread-safe.
final class SharedSource: Sendable {
    let device: DeviceDescription
    let source: any MediaSource

    private struct Rings {
        var present: any MediaRing
        /// What those before the present one have counted.
        var former = RingCounters()
        /// Those left lately without haste.
        var left: [ObjectIdentifier] = []
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

    /// Whether the device may have been handed memory of a ring that it left, and not have filled it yet. That takes it a
    /// moment, in which no more than a few rings can be left.
    func mayStillWrite(_ ring: any MediaRing) -> Bool {
        rings.withLock { $0.left.contains(ObjectIdentifier(ring)) }
    }

    /// Replaces the ring.
    ///
    /// - Returns: The one before.
    func go(into next: any MediaRing, atOnce: Bool) -> any MediaRing {
        rings.withLock { rings in
            let last = rings.present
            let counters = last.counters
            rings.former.published += counters.published
            for (cause, count) in counters.drops.enumerated() { rings.former.drops[cause] += count }
            rings.left = atOnce ? [] : rings.left.suffix(7) + [ObjectIdentifier(last)]
            rings.present = next
            return last
        }
    }
}
