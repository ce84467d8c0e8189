import CaptureCore
import CaptureEngine
import CaptureRing
import CaptureSystem
import Logging

/// Rings of sealed shared memory, sized for their sources.
struct SharedRings: RingProvider {
    /// What readers may lag behind before they miss something: frames of a camera, periods of a microphone.
    private static let unreadFrames = 8
    private static let unreadPeriods = 240
    /// Frames that stay although the only reader has read them.
    private static let keptFrames = 3

    func makeRing(for source: any MediaSource, name: String, isMoved: Bool) throws(CaptureError) -> any MediaRing {
        let (unread, kept) =
            switch source.format {
            case .video: (SharedRings.unreadFrames, SharedRings.keptFrames)
            case .audio: (SharedRings.unreadPeriods, SharedRings.unreadPeriods)
            }
        // One more than both need, so that a claim never waits for the readers' share.
        let slots = source.slotsInFlight + unread + 1
        let writer = try RingWriter(
            format: source.format,
            slots: slots,
            kept: kept,
            unread: unread,
            isForOne: !isMoved,
            name: "captured:" + name
        )
        ringLog.debug("ring of \(name): \(slots) slots of \(writer.slotCapacity) bytes, \(unread) for readers")
        return SharedRing(writer: writer, sink: ringLog.logLevel > .trace ? writer : TracedSink(writer, name))
    }
}

private final class SharedRing: MediaRing {
    private let writer: RingWriter

    let sink: any MediaSink

    init(writer: RingWriter, sink: any MediaSink) {
        self.writer = writer
        self.sink = sink
    }

    deinit {
        // Its memory takes milliseconds to be given back, in which the engine's actor is not to stand still.
        let last = (writer, sink)
        do throws(SystemError) {
            try WorkerThread.detached(name: "free-ring") { withExtendedLifetime(last) {} }
        } catch {
            // Given back here, then.
        }
    }

    func handOut() -> any OpenFile { writer.handOut() }
    var end: StreamEnd? { writer.end }

    var counters: RingCounters {
        let now = writer.statistics
        var counters = RingCounters()
        counters.published = now.published
        counters.drops = now.drops
        counters.queueDepth = now.queueDepth
        counters.latency = now.latency
        return counters
    }
}
