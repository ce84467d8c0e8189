import CaptureCore
import CaptureSystem
import Logging

/// The debug lines of rings, which `CAPTURE_LOG` turns on.
let ringLog = Logger(label: "captured.rings")

/// A sink that logs each buffer. It only stands before a ring if these lines are wanted, so otherwise a buffer costs
/// nothing more.
final class TracedSink: MediaSink {
    private let sink: any MediaSink
    private let name: String

    init(_ sink: any MediaSink, _ name: String) {
        self.sink = sink
        self.name = name
    }

    var slotCount: Int { sink.slotCount }
    var slotCapacity: Int { sink.slotCapacity }
    var isAwaited: Bool { sink.isAwaited }
    func memory(ofSlot slot: Int) -> UnsafeMutableRawBufferPointer { unsafe sink.memory(ofSlot: slot) }

    func claim() -> Int? {
        let slot = sink.claim()
        tell(slot.map { "slot \($0) goes to the device" } ?? "no slot is free for the device")
        return slot
    }

    func abandon(_ slot: Int) {
        tell("slot \(slot) comes back unpublished")
        sink.abandon(slot)
    }

    func publish(_ slot: Int, _ info: BufferInfo) {
        sink.publish(slot, info)
        let age = Timestamp.now.nanoseconds - info.timestamp.nanoseconds
        tell(
            """
            slot \(slot) is published: buffer \(info.deviceSequence) of \(info.bytesUsed.0) bytes, \(age / 1000) µs old, \
            \(info.lostBefore) lost before it
            """
        )
    }

    func count(_ cause: DropCause, _ number: UInt64) {
        tell("\(number) lost: \(cause)")
        sink.count(cause, number)
    }

    func finish(_ reason: StreamEnd) {
        tell("the end: \(reason)")
        sink.finish(reason)
    }

    private func tell(_ what: @autoclosure () -> String) { ringLog.trace("ring of \(name): \(what())") }
}
