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
        let device = try #require(V4L2.probe().first { $0.aliases.contains(path) })
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
        let error = #expect(throws: CaptureError.self) {
            try camera.start(into: try CountedRing(camera.format, slots: 12)) { _ in }
        }
        #expect(error?.code == .wrongState)
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
