import CLinux
import CaptureCore
import CaptureRing
import CaptureSystem
import Glibc
import LyingDriver
import Testing

@testable import CaptureDevices

/// Runs the real camera code above a driver that lies. Its own stream must end with the reason; other streams must go
/// on.
@Suite(.serialized, .timeLimit(.minutes(10))) struct `A driver that lies` {
    /// Whether frames are copied, and the index that the driver returns as its third buffer.
    private static let indices: [(Bool, UInt32)] = [
        (false, 0), (false, 11), (false, 12), (false, 31), (false, 32), (false, 0x8000_0001), (false, 0xffff_fffe),
        (true, 6), (true, 31), (true, 32), (true, 0xffff_fffe),
    ]

    @Test(arguments: indices)
    func `about which buffer it returns ends only its own stream`(isMapped: Bool, index: UInt32) async throws {
        let liar = try LyingCamera()
        let neighbour = try LyingCamera()
        let stream = try await LyingStream(liar, isMapped: isMapped)
        let other = try await LyingStream(neighbour, isMapped: isMapped)
        for number in 0..<2 as Range<UInt32> {
            liar.deliver(number)
            #expect(try stream.next()?.deviceSequence == UInt64(number))
        }
        // With user pointers the first buffer is in the readers' hands by now, and 11 was not handed out yet.
        liar.deliver(2, index: index)
        let error = try stream.end()
        #expect(error.code == .deviceLost)
        #expect(error.message.contains("buffer \(index)"), "\(error)")
        neighbour.deliver(7)
        #expect(try other.next()?.deviceSequence == 7)
        // The broken stream holds nothing any more: the same camera starts again.
        stream.camera.close()
        let again = try await LyingStream(liar, isMapped: isMapped)
        liar.deliver(0)
        #expect(try again.next() != nil)
        for stream in [again, other] { stream.camera.close() }
    }

    @Test func `about its signal's clock is told what it says`() async throws {
        let liar = try LyingCamera {
            $0.signal_height = LyingCamera.height
            $0.pixel_clock = .max
        }
        let camera = try await liar.open()
        #expect(camera.format.mediaType == .video)
        let ring = try RingWriter(format: camera.format, slots: camera.slotsInFlight + 4, kept: 2, name: "lies")
        let ended = AsyncStream<CaptureError>.makeStream()
        try camera.start(into: ring) { ended.continuation.yield($0) }
        for await error in ended.stream {
            #expect(error.message.contains("MHz"), "\(error)")
            break
        }
        camera.close()
    }

    @Test func `and has an event whenever it is asked lets its stream stop`() async throws {
        let liar = try LyingCamera { $0.has_endless_events = 1 }
        let stream = try await LyingStream(liar)
        liar.deliver(0)
        #expect(try stream.next() != nil)
        stream.camera.close()
        #expect(liar.calls < 10_000)
    }

    @Test func `and does not stop keeps nobody in the belief that a ring is left`() async throws {
        let liar = try LyingCamera()
        let stream = try await LyingStream(liar)
        liar.deliver(0)
        #expect(try stream.next() != nil)
        liar.say { $0.stop_error = EIO }
        let next = try RingWriter(format: stream.camera.format, slots: stream.ring.slotCount, kept: 2, name: "next")
        #expect(throws: CaptureError.self) { try stream.camera.move(to: next, atOnce: true) }
        _ = try stream.end()
        stream.camera.close()
    }

    @Test(arguments: [false, true])
    func `about how much a buffer holds ends its stream`(isMapped: Bool) async throws {
        for used in [LyingCamera.size + 1, 0x8000_0000, .max] {
            let liar = try LyingCamera()
            let stream = try await LyingStream(liar, isMapped: isMapped)
            liar.deliver(0, used: used)
            let error = try stream.end()
            #expect(error.code == .deviceLost)
            #expect(error.message.contains("\(used) bytes"), "\(error)")
            #expect(stream.ring.statistics.published == 0)
            stream.camera.close()
        }
    }

    @Test(arguments: [false, true])
    func `loses its empty, short and broken frames, which are counted`(isMapped: Bool) async throws {
        let liar = try LyingCamera()
        let stream = try await LyingStream(liar, isMapped: isMapped)
        liar.deliver(0, used: 0)
        liar.deliver(1, used: LyingCamera.size - 1)
        liar.deliver(2, flags: V4L2_BUF_FLAG_ERROR)
        liar.deliver(3)
        let frame = try #require(try stream.next())
        #expect(frame.deviceSequence == 3)
        #expect(frame.lostBefore == 3)
        #expect(stream.ring.statistics.drops(.deviceError) == 3)
        stream.camera.close()
    }

    @Test func `about a buffer larger than its frames gives no more than a frame`() async throws {
        let liar = try LyingCamera { $0.mapped = LyingCamera.size * 2 }
        let stream = try await LyingStream(liar, isMapped: true)
        liar.deliver(0, used: LyingCamera.size * 2)
        #expect(try stream.next()?.bytesUsed.0 == Int(LyingCamera.size))
        stream.camera.close()
    }

    @Test func `about its count changes the reported loss, and never stops the stream`() async throws {
        let liar = try LyingCamera()
        let stream = try await LyingStream(liar)
        var lost: [UInt32] = []
        for number in [5, 0x7fff_ffff, 3, 2, 2, 0xffff_ffff] as [UInt32] {
            liar.deliver(number)
            lost.append(try #require(try stream.next()).lostBefore)
        }
        #expect(lost == [0, 0x7fff_fff9, 0, 0, 0, 0])
        stream.camera.close()
    }

    @Test func `about its format at the start is not started`() async throws {
        for late in [
            LyingCamera.format(width: 32), LyingCamera.format(height: 64), LyingCamera.format(.uyvy),
            LyingCamera.format(stride: 256),
        ] {
            let liar = try LyingCamera { $0.late = late }
            let error = await #expect(throws: CaptureError.self) { _ = try await LyingStream(liar) }
            #expect(error?.code == .inputOutput)
            #expect(error?.message.contains("YUYV 64x32") == true, "\(String(describing: error))")
        }
    }

    @Test(arguments: [false, true])
    func `about its format while it streams ends its stream`(isMapped: Bool) async throws {
        let liar = try LyingCamera()
        let stream = try await LyingStream(liar, isMapped: isMapped)
        liar.deliver(0)
        #expect(try stream.next() != nil)
        liar.say { $0.late = LyingCamera.format(height: 16, size: LyingCamera.size / 2) }
        liar.deliver(1, used: LyingCamera.size / 2)
        let error = try stream.end()
        #expect(error.code == .deviceLost)
        #expect(error.message.contains("64x16"), "\(error)")
        stream.camera.close()
    }

    @Test func `about its format, with frames of the same size, ends its stream before long`() async throws {
        let liar = try LyingCamera()
        let stream = try await LyingStream(liar)
        liar.say { $0.late = LyingCamera.format(.uyvy) }
        for number in 0..<64 as Range<UInt32> { liar.deliver(number) }
        #expect(try stream.end().message.contains("UYVY"))
        #expect(stream.ring.statistics.published < 64)
        stream.camera.close()
    }

    @Test func `about frames that never come does not keep its thread busy for ever`() async throws {
        let liar = try LyingCamera { $0.is_fruitless = 1 }
        let stream = try await LyingStream(liar)
        liar.deliver(0)
        let error = try stream.end()
        #expect(error.message.contains("returns none"), "\(error)")
        stream.camera.close()
    }

    @Test func `gets another error than one that is gone`() async throws {
        let honest = try LyingCamera()
        let stream = try await LyingStream(honest)
        honest.unplug()
        let error = try stream.end()
        #expect(error.code == .deviceLost)
        #expect(error.message.contains("went away"))
    }

    private static let formats: [(lying_format, String)] = [
        (LyingCamera.format(width: 0), "0x32"), (LyingCamera.format(height: 0), "64x0"),
        (LyingCamera.format(width: .max), "4294967295x32"), (LyingCamera.format(height: 65537), "64x65537"),
        (LyingCamera.format(size: 0), "0 bytes"), (LyingCamera.format(size: .max), "4294967295 bytes"),
        (LyingCamera.format(stride: 129), "rows of 129 bytes"), (LyingCamera.format(stride: .max), "rows of"),
    ]

    @Test(arguments: formats)
    func `about what a frame is cannot be opened`(format: lying_format, words: String) async throws {
        let liar = try LyingCamera { $0.format = format }
        let node = try V4L2Node(path: "/dev/video-lies-\(liar.number)")
        let choice = FormatNegotiation.Choice(pixelFormat: .yuyv, width: 64, height: 32, interval: nil)
        let error = #expect(throws: CaptureError.self) { try node.configure(choice, for: VideoFormatRequest()) }
        #expect(error?.code == .badData)
        #expect(error?.message.contains(words) == true, "\(String(describing: error))")
        _ = try? await liar.open()
    }

    @Test(arguments: [(0, 0), (1, 0), (0, 1), (.max, 1), (.max, 0), (1, .max)] as [(UInt32, UInt32)])
    func `about its rate is read without a division by zero`(numerator: UInt32, denominator: UInt32) async throws {
        let liar = try LyingCamera {
            $0.numerator = numerator
            $0.denominator = denominator
        }
        let stream = try await LyingStream(liar)
        liar.deliver(0)
        #expect(try stream.next() != nil)
        stream.camera.close()
    }

    @Test func `about how many buffers it has gets no more than exist`() async throws {
        for granted in [1, 33, .max] as [UInt32] {
            for isMapped in [false, true] {
                let liar = try LyingCamera { $0.granted = granted }
                let stream = try await LyingStream(liar, isMapped: isMapped)
                liar.deliver(0)
                #expect(try stream.next() != nil)
                stream.camera.close()
            }
        }
    }

    @Test func `about the end of its lists is not asked for ever`() async throws {
        let liar = try LyingCamera {
            $0.has_endless_lists = 1
            $0.most = 4095
        }
        let node = try V4L2Node(path: "/dev/video-lies-\(liar.number)")
        let formats = node.formatOptions()
        #expect(!formats.isEmpty)
        #expect(liar.calls < 20_000)
        let before = liar.calls
        #expect(try !V4L2Controls(node).list().isEmpty)
        #expect(liar.calls - before < 30_000)
    }

    @Test func `has no memory for buffers, and the error names an option that helps`() async throws {
        let liar = try LyingCamera { $0.has_no_memory = 1 }
        let error = await #expect(throws: CaptureError.self) { _ = try await LyingStream(liar, isMapped: true) }
        #expect(error?.code.exitCode == 74)
        #expect(error?.message.contains("--video-format") == true, "\(String(describing: error))")
    }

    @Test func `about the order of its controls is not followed in a circle`() throws {
        let liar = try LyingCamera { $0.has_stuck_controls = 1 }
        let node = try V4L2Node(path: "/dev/video-lies-\(liar.number)")
        #expect(try V4L2Controls(node).list().isEmpty)
    }

    @Test(arguments: [(5, 4), (.min, .max), (.max, .min), (0, .max), (-1, 3)] as [(Int64, Int64)])
    func `about a control's range loses only that control's values`(least: Int64, most: Int64) throws {
        let liar = try LyingCamera {
            $0.has_endless_lists = 1
            $0.least = least
            $0.most = most
        }
        let controls = V4L2Controls(try V4L2Node(path: "/dev/video-lies-\(liar.number)"))
        #expect(try controls.list().allSatisfy { $0.choices.isEmpty })
        for value in [0, .min, .max] as [Int64] {
            #expect(throws: CaptureError.self) { try controls.set("lie", to: value) }
        }
    }

    @Test func `has controls of its own, which are written if the configuration names them`() throws {
        let liar = try LyingCamera {
            $0.has_endless_lists = 1
            $0.most = 3
        }
        let node = try V4L2Node(path: "/dev/video-lies-\(liar.number)")
        let controls = V4L2Controls(node, vendors: [2])
        let listed = try controls.list().prefix(3)
        #expect(listed.map(\.name) == ["0x00000001", "0x00000002", "0x00000003"])
        #expect(listed.map(\.flags) == [[.restricted], [], [.restricted]])
        for name in ["0x00000001", "lie"] {
            let error = #expect(throws: CaptureError.self) { try controls.set(name, to: 1) }
            #expect(error?.code == .notPermitted)
            #expect(error?.message.contains("VendorControls=") == true)
        }
        // The driver knows no such call; it got there.
        #expect(throws: CaptureError.self) { try controls.set("0x00000002", to: 1) }
        let wrong = #expect(throws: CaptureError.self) { try controls.set("0x00000002", to: 4) }
        #expect(wrong?.code == .invalidArgument)
    }

    @Test func `about where its names end cannot exceed V4L2's length for them`() throws {
        let liar = try LyingCamera { $0.has_no_terminators = 1 }
        let node = try V4L2Node(path: "/dev/video-lies-\(liar.number)")
        #expect(node.driver.utf8.count == 16)
        #expect(node.card.utf8.count == 32)
        #expect(node.bus.utf8.count == 32)
        #expect(node.formatOptions().first?.name.utf8.count == 32)
    }
}
