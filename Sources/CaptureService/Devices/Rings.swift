import CaptureCore
import CaptureDevices
import CaptureEngine
import CaptureRing
import CaptureSystem
import Logging

/// Rings of sealed shared memory, sized for their sources.
struct SharedRings: RingProvider {
    /// What readers may lag behind before they miss something: frames of a camera, periods of a microphone.
    private static let unreadFrames = 8
    private static let unreadPeriods = 240
    /// Buffers of metadata, which are small.
    private static let unreadMetadata = 32
    /// Frames that stay although the only reader has read them.
    private static let keptFrames = 3

    func makeRing(for source: any MediaSource, name: String, isMoved: Bool) throws(CaptureError) -> any MediaRing {
        let (unread, kept) =
            switch source.format {
            case .video: (SharedRings.unreadFrames, SharedRings.keptFrames)
            case .audio: (SharedRings.unreadPeriods, SharedRings.unreadPeriods)
            case .metadata: (SharedRings.unreadMetadata, SharedRings.keptFrames)
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
        if !isMoved, let camera = source as? V4L2Camera { SharedRings.makeReady(writer, camera.slotsAtStart) }
        ringLog.debug("ring of \(name): \(slots) slots of \(writer.slotCapacity) bytes, \(unread) for readers")
        return SharedRing(writer, name)
    }

    /// Gets memory for slots while a start waits for the history to be on disk.
    private static func makeReady(_ writer: RingWriter, _ count: Int) {
        guard count > 0 else { return }
        // Without a thread for that, the device waits for the memory.
        try? WorkerThread.detached(name: "ready-ring") { writer.makeReady(count) }
    }
}

@safe private final class SharedRing: MediaRing {
    /// Held by hand, so that its last reference goes where `deinit` has it go.
    private let held: Unmanaged<RingWriter>
    private let name: String

    init(_ writer: RingWriter, _ name: String) {
        unsafe held = Unmanaged.passRetained(writer)
        self.name = name
    }

    deinit {
        // Its memory takes milliseconds to be given back, in which the engine's actor is not to stand still.
        let held = unsafe held
        do throws(SystemError) {
            try WorkerThread.detached(name: "free-ring") { unsafe held.release() }
        } catch {
            // There is no thread to be had, and the memory is needed the more.
            unsafe held.release()
        }
    }

    private var writer: RingWriter { unsafe held.takeUnretainedValue() }
    var sink: any MediaSink { ringLog.logLevel > .trace ? writer : TracedSink(writer, name) }

    func handOut(isPatient: Bool) -> any OpenFile { writer.handOut(isPatient: isPatient) }
    var end: StreamEnd? { writer.end }

    var counters: RingCounters {
        let now = writer.statistics
        var counters = RingCounters()
        counters.published = now.published
        counters.drops = now.drops
        counters.queueDepth = now.queueDepth
        counters.latency = now.latency
        counters.age = Timestamp.now - now.lastTimestamp
        return counters
    }
}
