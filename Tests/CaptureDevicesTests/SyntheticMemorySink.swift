import CaptureCore
import Synchronization

@testable import CaptureDevices

/// A sink that keeps everything and raises a signal once it has enough, so that a run can be made on the test's thread.
@safe final class MemorySink: MediaSink {
    struct Kept: Sendable {
        var info: BufferInfo
        var bytes: [UInt8]
    }

    struct Record: Sendable {
        var buffers: [Kept] = []
        var drops: [DropCause: UInt64] = [:]
        var end: StreamEnd?
        var claims = 0
    }

    let slotCount: Int
    let slotCapacity: Int
    let isAwaited = true
    let enough: StreamControl
    private let target: Int
    private let keepBytes: Bool
    private let refuseClaim: Int
    private let onPublish: (@Sendable (Int) -> Void)?
    // Thread-bound by the contract of MediaSink.
    nonisolated(unsafe) private let slots: [UnsafeMutableRawBufferPointer]
    private let record = Mutex(Record())

    init(
        _ format: MediaFormat,
        enough target: Int,
        slots: Int = 8,
        keepBytes: Bool = true,
        refuseClaim: Int = -1,
        onPublish: (@Sendable (Int) -> Void)? = nil
    ) throws {
        enough = try StreamControl()
        slotCount = slots
        slotCapacity = (format.slotSize + 4095) / 4096 * 4096
        self.target = target
        self.keepBytes = keepBytes
        self.refuseClaim = refuseClaim
        self.onPublish = onPublish
        let capacity = slotCapacity
        unsafe self.slots = (0..<slots).map { _ in .allocate(byteCount: capacity, alignment: 4096) }
    }

    deinit { for slot in 0..<slotCount { unsafe slots[slot].deallocate() } }

    var kept: Record { record.withLock { $0 } }
    var buffers: [Kept] { kept.buffers }

    func memory(ofSlot slot: Int) -> UnsafeMutableRawBufferPointer { unsafe slots[slot] }

    func claim() -> Int? {
        record.withLock { record in
            record.claims += 1
            return record.claims == refuseClaim ? nil : record.claims % slotCount
        }
    }

    func abandon(_ slot: Int) {}

    func publish(_ slot: Int, _ info: BufferInfo) {
        let bytes = keepBytes ? unsafe [UInt8](slots[slot].prefix(info.bytesUsed.0)) : []
        let count = record.withLock { record in
            record.buffers.append(Kept(info: info, bytes: bytes))
            return record.buffers.count
        }
        onPublish?(count)
        if count >= target { enough.stop() }
    }

    func count(_ cause: DropCause, _ number: UInt64) {
        record.withLock { $0.drops[cause, default: 0] += number }
    }

    func finish(_ reason: StreamEnd) {
        record.withLock { $0.end = reason }
    }
}
