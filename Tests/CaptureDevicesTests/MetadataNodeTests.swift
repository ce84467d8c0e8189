import Authorization
import CLinux
import CaptureCore
import CaptureRing
import CaptureSystem
import LyingDriver
import Synchronization
import TestSupport
import Testing

@testable import CaptureDevices

/// Which camera a metadata node belongs to.
@Suite struct `A metadata node` {
    private let camera = NodeSeat(bus: "usb-1", parent: "/sys/devices/usb/1-1:1.0", index: 0)

    @Test func `belongs to the camera of its own interface`() {
        let other = NodeSeat(bus: "usb-1", parent: "/sys/devices/usb/2-1:1.0", index: 0)
        let node = NodeSeat(bus: "usb-1", parent: camera.parent, index: 1)
        #expect(node.owner(among: [other, camera]) == 1)
        #expect(node.owner(among: [other]) == nil)
        #expect(node.owner(among: []) == nil)
    }

    @Test func `of several cameras at one interface belongs to the last before it`() {
        let seats = [0, 1, 2, 3].map { NodeSeat(bus: "usb-1", parent: camera.parent, index: $0) }
        // Depth and its metadata, colour and its metadata.
        #expect(seats[1].owner(among: [seats[0], seats[2]]) == 0)
        #expect(seats[3].owner(among: [seats[0], seats[2]]) == 1)
        #expect(seats[0].owner(among: [seats[2]]) == nil)
    }

    @Test func `of one of several devices of a driver belongs to the camera of that device`() {
        let cameras = [0, 4].map {
            NodeSeat(bus: "platform:vivid-00\($0 / 4)", parent: "/sys/devices/vivid", index: $0)
        }
        let node = NodeSeat(bus: "platform:vivid-000", parent: "/sys/devices/vivid", index: 6)
        #expect(node.owner(among: cameras) == 0)
    }

    @Test func `finds the number of a frame by its time`() {
        let frames = FrameNumbers()
        #expect(frames.number(at: Timestamp(nanoseconds: 5)) == .notYet)
        for number in 0..<100 as Range<UInt64> { frames.note(Timestamp(nanoseconds: Int64(number) * 10), number) }
        #expect(frames.number(at: Timestamp(nanoseconds: 990)) == .number(99))
        #expect(frames.number(at: Timestamp(nanoseconds: 360)) == .number(36))
        // Too long ago, lost, and still to come.
        #expect(frames.number(at: Timestamp(nanoseconds: 350)) == .unknown)
        #expect(frames.number(at: Timestamp(nanoseconds: 985)) == .unknown)
        #expect(frames.number(at: Timestamp(nanoseconds: 1000)) == .notYet)
    }
}

/// Runs the real code of metadata above a driver that lies.
@Suite(.serialized, .timeLimit(.minutes(10))) struct `A metadata driver that lies` {
    /// The bytes that its buffers have.
    private static let size: UInt32 = 256

    private final class Failure: Sendable {
        let error = Mutex<CaptureError?>(nil)
    }

    private final class Stream {
        let source: DeviceSource
        let ring: RingWriter
        let frames = FrameNumbers()
        private let reader: RingReader
        private let failure = Failure()

        init(_ lying: LyingCamera) async throws {
            var device = lying.description
            device.metadata = DeviceMetadata(node: device.aliases[0], formats: [.uvcHeaders])
            source = try V4L2.openMetadata(of: device, grant: try await TestGrants.camera(), frames: frames)
            ring = try RingWriter(format: source.format, slots: 8, kept: 2, name: "lies")
            reader = try RingReader(mapping: ring.file, fromStart: true)
            try source.start(into: ring) { [failure] error in failure.error.withLock { $0 = error } }
        }

        func next() throws -> RingBuffer? {
            guard case .buffer(let buffer) = try reader.next(timeout: 30_000_000_000) else { return nil }
            return buffer
        }

        /// Waits until it ends by itself.
        func end() throws -> CaptureError {
            while ring.end == nil { guard try next() != nil else { break } }
            #expect(ring.end == .deviceLost)
            return try #require(failure.error.withLock { $0 })
        }
    }

    private func liar(_ change: (inout lying_answers) -> Void = { _ in }) throws -> LyingCamera {
        try LyingCamera { answers in
            answers.is_metadata = 1
            answers.format = LyingCamera.format(.uvcHeaders, size: Self.size)
            change(&answers)
        }
    }

    @Test func `brings what it says, with the number of the frame`() async throws {
        let liar = try liar()
        let stream = try await Stream(liar)
        liar.deliver(7, used: 22)
        let first = try #require(try stream.next())
        #expect(unsafe first.plane(0).count == 22)
        #expect(first.info.deviceSequence == 7 && first.info.position == 0)
        // The driver told of the frame before the frame was published.
        // The stream waits 30 ms for the frame's number. A test that is held up for longer tries once more.
        var position: UInt64 = 0
        for number in stride(from: UInt32(9), to: 49, by: 2) where position == 0 {
            let time = Timestamp(nanoseconds: Timestamp.now.nanoseconds / 1000 * 1000)
            liar.deliver(number, used: 1, at: time)
            stream.frames.note(time, 1234)
            let next = try #require(try stream.next())
            position = next.info.position
            #expect(next.info.lostBefore == 1)
        }
        #expect(position == 1235)
        stream.source.close()
    }

    @Test func `about a buffer's index or length ends its own stream alone`() async throws {
        let camera = try LyingCamera()
        let frames = try await LyingStream(camera)
        for (index, used) in [(31, 22), (0xffff_fffe, 22), (.max, 257), (.max, .max)] as [(UInt32, UInt32)] {
            let liar = try liar()
            let stream = try await Stream(liar)
            liar.deliver(0, index: index, used: used)
            let error = try stream.end()
            #expect(error.code == .deviceLost && error.message.contains("metadata"), "\(error)")
            #expect(stream.ring.statistics.published == 0)
            stream.source.close()
        }
        camera.deliver(3)
        #expect(try frames.next()?.deviceSequence == 3)
        frames.camera.close()
    }

    @Test func `about the size of its buffers gives none that is longer than it said`() async throws {
        let liar = try liar { $0.mapped = 4096 }
        let stream = try await Stream(liar)
        liar.deliver(0, used: 4096)
        liar.deliver(1, flags: V4L2_BUF_FLAG_ERROR)
        liar.deliver(2, used: 0)
        liar.deliver(3, used: Self.size)
        let buffer = try #require(try stream.next())
        #expect(unsafe buffer.plane(0).count == Int(Self.size))
        #expect(buffer.info.deviceSequence == 3 && buffer.info.lostBefore == 2)
        #expect(stream.ring.statistics.drops(.deviceError) == 2)
        stream.source.close()
    }

    @Test func `about the size of its format is not opened`() async throws {
        for size in [0, UInt32(MetadataFormat.mostBytes) + 1, .max] {
            let liar = try liar { $0.format = LyingCamera.format(.uvcHeaders, size: size) }
            let error = await #expect(throws: CaptureError.self) { _ = try await Stream(liar) }
            #expect(error?.code == .inputOutput && error?.message.contains("\(size) bytes") == true)
        }
    }

    @Test func `that is gone, or only wakes its reader, ends its stream`() async throws {
        let gone = try liar()
        let stream = try await Stream(gone)
        gone.unplug()
        #expect(try stream.end().message.contains("went away"))
        stream.source.close()
        let fruitless = try liar { $0.is_fruitless = 1 }
        let other = try await Stream(fruitless)
        fruitless.deliver(0)
        #expect(try other.end().message.contains("returns none"))
        other.source.close()
    }

    @Test func `stops at once while it says nothing`() async throws {
        let stream = try await Stream(try liar())
        stream.source.stop()
        #expect(stream.ring.statistics.published == 0)
    }

    @Test func `is opened with a live grant for the camera alone`() async throws {
        var device = try liar().description
        device.metadata = DeviceMetadata(node: device.aliases[0], formats: [.uvcHeaders])
        let microphone = try await TestGrants.microphone()
        #expect(throws: CaptureError.self) { _ = try V4L2.openMetadata(of: device, grant: microphone) }
    }
}

/// What the synthetic camera says.
@Suite(.timeLimit(.minutes(10))) struct `Synthetic metadata` {
    @Test func `tells of each frame that the camera published, and of none without it`() async throws {
        let grant = try await TestGrants.camera()
        // A thread that is held up begins late or misses frames: once more.
        for _ in 1..<20 {
            if try positions(grant) == [1, 2, 3, 4, 5] { return }
        }
        #expect(try positions(grant) == [1, 2, 3, 4, 5])
    }

    /// The positions of the first five, each of which must have its frame's time.
    private func positions(_ grant: Grant) throws -> [UInt64] {
        let devices = SyntheticDevices()
        let metadata = try devices.openMetadata(grant: grant)
        let ring = try RingWriter(format: metadata.format, slots: 64, kept: 32, name: "meta")
        let reader = try RingReader(mapping: ring.file, fromStart: true)
        try metadata.start(into: ring) { _ in }
        guard case .timedOut = try reader.next(timeout: 200_000_000) else {
            Issue.record("something came before the camera streamed")
            return []
        }
        let camera = try devices.openCamera(VideoFormatRequest(width: 320, height: 240), grant: grant)
        let pictures = try RingWriter(format: camera.format, slots: 8, kept: 2, name: "pictures")
        try camera.start(into: pictures) { _ in }
        var found: [UInt64] = []
        for _ in 0..<5 {
            guard case .buffer(let buffer) = try reader.next(timeout: 30_000_000_000) else {
                Issue.record("nothing came")
                break
            }
            found.append(buffer.info.position)
            let told = unsafe buffer.plane(0).loadUnaligned(as: UInt64.self)
            #expect(told == UInt64(buffer.info.timestamp.nanoseconds))
        }
        camera.close()
        metadata.close()
        return found
    }
}
