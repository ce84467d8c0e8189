import AllocationCounter
import CaptureCore
import CaptureRing
import CaptureSystem
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import CaptureDevices

/// The camera that the tests below stream from, as `/dev/video0`; without it they do not run. It is to take user
/// pointers, as vivid does.
private let testCamera = unsafe getenv("CAPTURE_TEST_CAMERA").map { unsafe String(cString: $0) }

/// A ring that counts what the device thread allocates from its 10th frame to its 40th.
private final class CountedRing: MediaSink, Sendable {
    static let first: UInt64 = 10
    static let last: UInt64 = 40

    let ring: RingWriter
    let done: EventSignal
    private let frames = Atomic<UInt64>(0)
    private let counted = Atomic<UInt>(.max)

    init(_ format: MediaFormat, slots: Int) throws {
        ring = try RingWriter(format: format, slots: slots, kept: 4, name: "test")
        done = try EventSignal()
    }

    /// Heap allocations of the device thread; `nil` before the last frame.
    var allocations: UInt? {
        let count = counted.load(ordering: .acquiring)
        return count == .max ? nil : count
    }

    var slotCount: Int { ring.slotCount }
    var slotCapacity: Int { ring.slotCapacity }
    var isAwaited: Bool { ring.isAwaited }
    func memory(ofSlot slot: Int) -> UnsafeMutableRawBufferPointer { unsafe ring.memory(ofSlot: slot) }
    func claim() -> Int? { ring.claim() }
    func abandon(_ slot: Int) { ring.abandon(slot) }
    func count(_ cause: DropCause, _ number: UInt64) { ring.count(cause, number) }
    func finish(_ reason: StreamEnd) { ring.finish(reason) }

    func publish(_ slot: Int, _ info: BufferInfo) {
        ring.publish(slot, info)
        let frame = frames.add(1, ordering: .relaxed).newValue
        if frame == CountedRing.first { allocation_counter_start() }
        if frame == CountedRing.last {
            counted.store(UInt(allocation_counter_stop()), ordering: .releasing)
            done.raise()
        }
    }
}

@Suite(.serialized, .enabled(if: testCamera != nil), .timeLimit(.minutes(10)))
struct `A camera's thread in the steady state` {
    private func open(_ request: VideoFormatRequest) async throws -> V4L2Camera {
        let path = try #require(testCamera)
        let device = try #require(V4L2Probe().devices(changed: nil).first { $0.aliases.contains(path) })
        return try V4L2Camera.open(device, request, grant: try await TestGrants.camera())
    }

    private let small = VideoFormatRequest(pixelFormat: .yuyv, width: 320, height: 180, framesPerSecond: 30)

    private func stream(_ camera: V4L2Camera, slots: Int) throws -> CountedRing {
        let sink = try CountedRing(camera.format, slots: slots)
        try camera.start(into: sink) { _ in sink.done.raise() }
        _ = try Poll.wait(sink.done.descriptor, timeout: 60_000)
        camera.stop()
        return sink
    }

    @Test func `allocates nothing and copies nothing where the driver takes user pointers`() async throws {
        let camera = try await open(small)
        let sink = try stream(camera, slots: camera.slotsInFlight + 4)
        #expect(sink.allocations == 0)
        #expect(camera.statistics.memory == .userPointer)
        #expect(camera.statistics.copiedBytes == 0)
        #expect(camera.statistics.published >= CountedRing.last)
        camera.close()
    }

    @Test func `allocates nothing and copies once where it does not`() async throws {
        let camera = try await open(small)
        // More slots than V4L2 has buffers: they cannot be the driver's.
        let sink = try stream(camera, slots: 40)
        let statistics = camera.statistics
        #expect(sink.allocations == 0)
        #expect(statistics.memory == .mapped)
        #expect(statistics.copiedBytes == statistics.published * UInt64(camera.format.slotSize))
        camera.close()
    }

    @Test func `goes on in another ring after a stop`() async throws {
        let camera = try await open(small)
        for _ in 0..<2 {
            let sink = try stream(camera, slots: camera.slotsInFlight + 4)
            let reader = try RingReader(mapping: sink.ring.file, fromStart: true)
            guard case .buffer(let frame) = try reader.next(timeout: 0) else {
                Issue.record("the ring is empty")
                continue
            }
            #expect(frame.info.flags.contains([.keyframe, .monotonic]))
            #expect(unsafe frame.bytes.contains { $0 != 0 })
        }
        camera.close()
        #expect(code { try camera.start(into: try CountedRing(camera.format, slots: 12)) { _ in } } == .wrongState)
    }

    /// All that a reader saw in a ring until its end.
    private func read(_ ring: RingWriter) throws -> [BufferInfo] {
        let reader = try RingReader(mapping: ring.file, fromStart: true)
        var found: [BufferInfo] = []
        while case .buffer(let frame) = try reader.next(timeout: 0) { found.append(frame.info) }
        return found
    }

    private func wait(_ ring: RingWriter, for frames: UInt64) throws {
        let reader = try RingReader(mapping: ring.file)
        while ring.statistics.published < frames { _ = try reader.next(timeout: 1_000_000_000) }
    }

    @Test(arguments: [false, true])
    func `goes on in another ring without losing a frame`(_ isMapped: Bool) async throws {
        let camera = try await open(small)
        let slots = isMapped ? 60 : 30
        let rings = try (0..<3).map { _ in
            try RingWriter(format: camera.format, slots: slots, kept: slots - camera.slotsInFlight - 2, name: "test")
        }
        try camera.start(into: rings[0]) { _ in Issue.record("it ended") }
        try wait(rings[0], for: 6)
        try camera.move(to: rings[1], atOnce: false)
        // The second move meets buffers that the driver still has from the first.
        try wait(rings[1], for: 1)
        try camera.move(to: rings[2], atOnce: false)
        try wait(rings[2], for: 12)
        let copied = camera.statistics.copiedBytes
        try wait(rings[2], for: 18)
        #expect(isMapped || camera.statistics.copiedBytes == copied)
        camera.close()
        let frames = try rings.flatMap(read)
        #expect(frames.count >= 19)
        // What the driver itself lost on a busy machine is counted as its loss.
        let gaps = rings.reduce(0) { $0 + $1.statistics.drops[DropCause.sequenceGap.rawValue] }
        #expect(frames.last!.deviceSequence - frames[0].deviceSequence + 1 == UInt64(frames.count) + gaps)
        #expect(zip(frames, frames.dropFirst()).allSatisfy { $0.timestamp < $1.timestamp })
        for cause in [DropCause.revocation, .noSlot, .deviceError] {
            #expect(rings.allSatisfy { $0.statistics.drops[cause.rawValue] == 0 })
        }
    }

    @Test func `writes a ring no more that it left at once`() async throws {
        let camera = try await open(small)
        let rings = try (0..<3).map { _ in
            try RingWriter(format: camera.format, slots: camera.slotsInFlight + 4, kept: 2, name: "test")
        }
        try camera.start(into: rings[0]) { _ in Issue.record("it ended") }
        try wait(rings[0], for: 20)
        // One is left without haste, so that the driver still has its memory, then another at once.
        try camera.move(to: rings[1], atOnce: false)
        try camera.move(to: rings[2], atOnce: true)
        try wait(rings[2], for: 1)
        let first = try #require(try read(rings[2]).first)
        let last = try #require(try rings.prefix(2).flatMap(read).last)
        // What the restart has cost is counted, and said with the first frame behind it.
        let lost = CaptureLoop.frames(between: last.timestamp, and: first.timestamp, every: 33_333_333)
        let revoked = rings[2].statistics.drops[DropCause.revocation.rawValue]
        let gaps = rings.reduce(0) { $0 + $1.statistics.drops[DropCause.sequenceGap.rawValue] }
        #expect(revoked == UInt64(lost) || gaps > 0)
        #expect(revoked <= UInt64(lost))
        #expect(Int64(first.lostBefore) >= lost)
        #expect(first.deviceSequence > last.deviceSequence)
        #expect(first.flags.contains(.discontinuity))
        let size = rings[0].layout.fileSize
        let seen = try rings.prefix(2).map { try bytes(of: $0.file, size) }
        try wait(rings[2], for: 30)
        for (ring, before) in zip(rings, seen) { #expect(try bytes(of: ring.file, size) == before) }
        #expect(rings[2].statistics.drops[DropCause.sequenceGap.rawValue] < 30)
        camera.close()
        let frames = try read(rings[2])
        #expect(frames.allSatisfy { $0.bytesUsed.0 > 0 })
    }

    private func bytes(of file: Descriptor, _ size: Int) throws -> [UInt8] {
        var found = [UInt8](repeating: 0, count: size)
        let count = unsafe pread(file.descriptor, &found, size, 0)
        try #require(count == size)
        return found
    }

    @Test func `is one camera's alone`() async throws {
        let camera = try await open(small)
        let sink = try CountedRing(camera.format, slots: camera.slotsInFlight + 4)
        try camera.start(into: sink) { _ in }
        await #expect(throws: CaptureError.self) { _ = try await open(small) }
        camera.close()
        _ = try await open(small)
    }
}
