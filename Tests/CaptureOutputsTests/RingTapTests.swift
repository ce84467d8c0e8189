import CaptureCore
import CaptureRing
import CaptureSystem
import MediaConversion
import Testing

@testable import CaptureOutputs

/// What a recording that is stopped still takes of what was published before.
@Suite(.timeLimit(.minutes(10))) struct `A stopped stream` {
    private static let format = MediaFormat.audio(
        AudioFormat(sampleFormat: .s16, sampleRate: 48000, channels: 1, periodFrames: 480)
    )

    private static func ring() throws -> RingWriter { try RingWriter(format: format, slots: 8, kept: 2, name: "test") }

    private static func publish(_ count: Int, to ring: RingWriter) throws {
        for _ in 0..<count {
            let slot = try #require(ring.claim())
            ring.publish(slot, BufferInfo(timestamp: .now, deviceSequence: 0, bytesUsed: (960, 0, 0, 0), flags: []))
        }
    }

    /// What is taken of a ring, by the ring's count and with what was lost before, and what was lost behind it.
    private static func drained(
        _ ring: RingWriter,
        _ orders: RingOrders,
        _ converter: any BufferConverter
    ) throws -> (taken: Int, lost: UInt64) {
        let tap = RingTap(
            .audio,
            ring: try RingReader(mapping: ring.file, fromStart: true),
            converter: converter,
            pool: try BufferPool(count: 32, capacity: 960),
            orders: orders,
            pause: 0,
            damageLimit: 1_000_000_000
        )
        var (taken, lost) = (0, UInt64(0))
        while true {
            switch try tap.next() {
            case .buffer(_, let buffer): (taken, lost) = (taken + 1, lost + buffer.lostBefore)
            case .ended(_, let more): return (taken, lost + more)
            default: throw CaptureError(.badData, "neither a buffer nor the end")
            }
        }
    }

    @Test func `takes what follows a buffer that is overwritten meanwhile`() throws {
        let ring = try Self.ring()
        try Self.publish(8, to: ring)
        let orders = RingOrders()
        orders.stop(at: .now)
        let found = try Self.drained(ring, orders, Overwritten(Self.format) { try Self.publish(1, to: ring) })
        #expect(found == (7, 1))
    }

    @Test func `goes on in a ring that it was handed before`() throws {
        let (first, second) = (try Self.ring(), try Self.ring())
        try Self.publish(3, to: first)
        first.finish(.moved)
        try Self.publish(20, to: second)
        let orders = RingOrders()
        orders.moves.put(second.file)
        orders.stop(at: .now)
        try Self.publish(1, to: second)
        // One more was overwritten by what came after the stop.
        #expect(try Self.drained(first, orders, CopyConverter(Self.format)) == (3 + 7, 13))
    }
}

/// Has the first buffer overwritten while it is used.
private final class Overwritten: BufferConverter {
    private let copy: CopyConverter
    private var overwrite: (() throws -> Void)?

    init(_ format: MediaFormat, by overwrite: @escaping () throws -> Void) {
        copy = CopyConverter(format)
        self.overwrite = overwrite
    }

    var capacity: Int { copy.capacity }

    func convert(_ buffer: RingBuffer, into memory: UnsafeMutableRawBufferPointer) -> Int? {
        do {
            try overwrite?()
        } catch {
            Issue.record(error)
        }
        overwrite = nil
        return unsafe copy.convert(buffer, into: memory)
    }
}
