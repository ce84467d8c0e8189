import AllocationCounter
import CaptureCore
import CaptureRing
import CaptureSystem
import Glibc
import Testing

@Suite struct `The path of a buffer` {
    @Test func `allocates nothing on the writer's side`() throws {
        let writer = try RingWriter(format: Fixture.video, slots: 12, kept: 4, name: "test")
        let info = Fixture.info(0)
        // Unoptimized ranges and option-set literals allocate; neither is what is counted here.
        var number = 0
        writer.put(0)
        allocation_counter_start()
        while number < 10_000 {
            if let slot = writer.claim() { writer.publish(slot, info) }
            writer.count(.sequenceGap, 1)
            number += 1
        }
        #expect(allocation_counter_stop() == 0)
        #expect(writer.statistics.published == 10_001)
    }

    @Test func `allocates nothing on the reader's side`() throws {
        let writer = try RingWriter(format: Fixture.video, slots: 12, kept: 4, name: "test")
        let reader = try RingReader(mapping: writer.file)
        let info = Fixture.info(0)
        var number = 0
        var whole = 0
        // What is set up once, on first use, is not of the steady state.
        writer.put(0)
        _ = try reader.take()
        allocation_counter_start()
        while number < 10_000 {
            if let slot = writer.claim() { writer.publish(slot, info) }
            if case .buffer(let buffer) = try reader.next(timeout: 0), reader.confirm(buffer) { whole += 1 }
            number += 1
        }
        #expect(allocation_counter_stop() == 0)
        #expect(whole == 10_000)
    }

    @Test func `is counted by a counter that counts`() {
        allocation_counter_start()
        let array = Array(repeating: 1, count: Int.random(in: 100...200))
        let object = Descriptor(owning: dup(0))
        #expect(allocation_counter_stop() >= 2)
        #expect(array.count >= 100 && object.descriptor >= 0)
    }
}
