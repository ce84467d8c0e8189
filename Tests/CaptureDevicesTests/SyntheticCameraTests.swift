import CaptureCore
import CaptureSystem
import Synchronization
import TestSupport
import Testing

@testable import CaptureDevices

@Suite struct SyntheticCameraTests {
    private func record(
        _ request: VideoFormatRequest = VideoFormatRequest(width: 320, height: 240),
        frames: Int,
        clock: SyntheticClock = SyntheticClock(speed: 20),
        controls: SyntheticControls = SyntheticControls(.video),
        refuseClaim: Int = -1,
        onPublish: (@Sendable (Int) -> Void)? = nil
    ) throws -> (VideoFormat, MemorySink) {
        let format = try SyntheticFormats.negotiate(request)
        let sink = try MemorySink(.video(format), enough: frames, refuseClaim: refuseClaim, onPublish: onPublish)
        var run = SyntheticCamera(format, TestPicture(format), clock, controls, sink)
        try run.stream(sink.enough)
        return (format, sink)
    }

    /// Records until nothing but the test held the camera up: first 20 times as fast, at last in real time.
    private func undisturbed(
        _ request: VideoFormatRequest = VideoFormatRequest(width: 320, height: 240),
        frames: Int,
        controls: SyntheticControls = SyntheticControls(.video),
        refuseClaim: Int = -1
    ) throws -> (VideoFormat, MemorySink) {
        func once(_ speed: Int) throws -> (VideoFormat, MemorySink) {
            let clock = SyntheticClock(speed: speed)
            return try record(request, frames: frames, clock: clock, controls: controls, refuseClaim: refuseClaim)
        }
        for speed in [20, 20, 20, 2, 2, 1] {
            let made = try once(speed)
            // What holds it up costs more than the one frame that a test asks for.
            if made.1.buffers.allSatisfy({ $0.info.lostBefore <= 1 }) { return made }
        }
        return try once(1)
    }

    @Test(arguments: [PixelFormat.yuyv, .nv12, .yuv420], [(320, 240), (1280, 720)])
    func `number and clock can be read in every format`(_ pixels: PixelFormat, _ size: (Int, Int)) throws {
        let request = VideoFormatRequest(
            pixelFormat: pixels,
            width: size.0,
            height: size.1,
            framesPerSecond: 30,
            isExact: true
        )
        let format = try SyntheticFormats.negotiate(request)
        let picture = TestPicture(format)
        var frame = [UInt8](repeating: 0, count: format.frameSize)
        let reader = DigitReader(format: format)
        for (number, isFlash) in [(12_345_678, false), (90, true)] {
            unsafe frame.withUnsafeMutableBytes {
                unsafe picture.draw(
                    into: $0,
                    number: UInt64(number),
                    time: 37_230_456_000_000,
                    isFlash: isFlash
                )
            }
            #expect(reader.number(of: frame) == (isFlash ? "00000090" : "12345678"))
            #expect(reader.clock(of: frame) == "10:20:30.456")
        }
    }

    @Test(arguments: [PixelFormat.yuyv, .nv12, .yuv420])
    func `the bars have the colours of the standard`(_ pixels: PixelFormat) throws {
        let format = try SyntheticFormats.negotiate(VideoFormatRequest(pixelFormat: pixels, width: 640, height: 480))
        var frame = [UInt8](repeating: 0, count: format.frameSize)
        unsafe frame.withUnsafeMutableBytes {
            unsafe TestPicture(format).draw(into: $0, number: 0, time: 1, isFlash: false)
        }
        for (index, bar) in ColorBars.bars.enumerated() {
            let (x, y) = ((index * 2 + 1) * 640 / 14 / 2 * 2, 160)
            let found: [UInt8] =
                switch pixels {
                case .yuyv: [0, 1, 3].map { frame[y * 1280 + x * 2 + $0] }
                case .nv12:
                    [frame[y * 640 + x], frame[640 * 480 + y / 2 * 640 + x], frame[640 * 480 + y / 2 * 640 + x + 1]]
                default:
                    [0, 640 * 480, 640 * 480 * 5 / 4].enumerated().map { plane, start in
                        plane == 0 ? frame[y * 640 + x] : frame[start + y / 2 * 320 + x / 2]
                    }
                }
            #expect(found == [bar.y, bar.cb, bar.cr])
        }
    }

    @Test func `the frame of every whole second is white and no other`() throws {
        let (format, sink) = try undisturbed(
            VideoFormatRequest(width: 320, height: 240, framesPerSecond: 15),
            frames: 48
        )
        let reader = DigitReader(format: format)
        for kept in sink.buffers {
            let isWhole = kept.info.timestamp.nanoseconds % 1_000_000_000 == 0
            let isWhite = (0..<7).allSatisfy { reader.luma(kept.bytes, 20 + $0 * 45, 80) == 235 }
            #expect(isWhite == isWhole)
        }
        #expect(sink.buffers.filter { $0.info.timestamp.nanoseconds % 1_000_000_000 == 0 }.count >= 3)
    }

    @Test func `frames are numbered from 0 and lie one interval apart`() throws {
        let (format, sink) = try undisturbed(frames: 60)
        let reader = DigitReader(format: format)
        var last: Timestamp?
        for (index, kept) in sink.buffers.prefix(60).enumerated() {
            #expect(kept.info.deviceSequence == UInt64(index))
            #expect(reader.number(of: kept.bytes) == String(String(100_000_000 + index).dropFirst()))
            if let last { #expect(abs((kept.info.timestamp - last) - 33_333_333) <= 1) }
            last = kept.info.timestamp
        }
        #expect(sink.kept.drops.isEmpty)
    }

    @Test func `at speed 1 the timestamps are those of the monotonic clock`() throws {
        let before = Timestamp.now
        let (_, sink) = try record(
            VideoFormatRequest(width: 320, height: 240, framesPerSecond: 60),
            frames: 6,
            clock: SyntheticClock()
        )
        let after = Timestamp.now
        for kept in sink.buffers {
            #expect(before < kept.info.timestamp)
            #expect(kept.info.timestamp < after)
        }
    }

    @Test func `drop_every loses exactly every nth frame`() throws {
        let controls = SyntheticControls(.video)
        try controls.set("drop_every", to: 5)
        let (_, sink) = try undisturbed(frames: 40, controls: controls)
        let sequences = sink.buffers.prefix(40).map(\.info.deviceSequence)
        #expect(sequences == (0..<50).filter { $0 % 5 != 4 }.map(UInt64.init).prefix(40).map { $0 })
        #expect(sink.kept.drops[.sequenceGap] == UInt64(sequences.last! + 1) - 40)
        for kept in sink.buffers {
            let follows = kept.info.deviceSequence % 5 == 0 && kept.info.deviceSequence > 0
            #expect(kept.info.lostBefore == (follows ? 1 : 0))
            #expect(kept.info.flags.contains(.discontinuity) == follows)
        }
    }

    @Test func `error_every counts broken buffers apart`() throws {
        let controls = SyntheticControls(.video)
        try controls.set("error_every", to: 3)
        let (_, sink) = try undisturbed(frames: 20, controls: controls)
        #expect(!sink.buffers.contains { $0.info.deviceSequence % 3 == 2 })
        #expect(sink.kept.drops[.deviceError] == 9)
        #expect(sink.kept.drops[.sequenceGap] == nil)
    }

    @Test func `a ring without a free slot costs a frame and is counted`() throws {
        let (_, sink) = try undisturbed(frames: 10, refuseClaim: 4)
        #expect(sink.kept.drops == [.noSlot: 1])
        #expect(sink.buffers.map(\.info.deviceSequence).contains(3) == false)
    }

    @Test func `disconnect ends the stream with a lost device`() throws {
        let controls = SyntheticControls(.video)
        let error = #expect(throws: CaptureError.self) {
            _ = try record(frames: 1000, controls: controls) { if $0 == 3 { try? controls.set("disconnect", to: 0) } }
        }
        #expect(error?.code == .deviceLost)
    }

    @Test func `a camera held up loses what is too late and says how much`() throws {
        // 0.4 s of standstill at 20 times the speed are 240 frames, of which the last is still delivered.
        let never = try EventSignal()
        var sink: MemorySink
        // If the machine held it up at another frame, too, it is tried once more.
        var tries = 0
        repeat {
            sink = try record(frames: 20) { if $0 == 10 { _ = try? Poll.wait(never.descriptor, timeout: 400) } }.1
            tries += 1
        } while tries < 20 && sink.buffers.enumerated().contains { $0 != 10 && $1.info.lostBefore > 0 }
        let lost = sink.kept.drops[.sequenceGap] ?? 0
        #expect(lost >= 230)
        #expect(sink.buffers[10].info.lostBefore == UInt32(lost))
        #expect(sink.buffers[10].info.deviceSequence == 10 + lost)
    }

    @Test func `what cannot be given exactly is refused and else rounded`() throws {
        let request = VideoFormatRequest(width: 1000, height: 700, framesPerSecond: 25)
        let format = try SyntheticFormats.negotiate(request)
        #expect(format.description == "YUYV 1280x720 at 30 fps")
        let error = #expect(throws: CaptureError.self) {
            _ = try SyntheticFormats.negotiate(VideoFormatRequest(width: 1000, height: 700, isExact: true))
        }
        #expect(error?.code == .noSuchFormat)
    }

    @Test func `an unknown control is refused with the names of those there are`() {
        let error = #expect(throws: CaptureError.self) { try SyntheticControls(.video).set("focus", to: 1) }
        #expect(error?.code == .invalidArgument)
        #expect(error?.message.contains("drop_every, error_every, disconnect") == true)
    }

    @Test func `automatic modes disable what they do, and that is told`() throws {
        let controls = SyntheticControls(.video)
        let heard = Mutex<[DeviceControl]>([])
        let watch = controls.watch { control in heard.withLock { $0.append(control) } }
        #expect(code { try controls.set("focus_absolute", to: 100) } == .wrongState)
        try controls.set("focus_auto", to: 0)
        try controls.set("focus_absolute", to: 100)
        let told = heard.withLock { $0 }
        #expect(told.map(\.name) == ["focus_absolute", "focus_auto", "focus_absolute"])
        #expect(told.map(\.isWritable) == [true, true, true])
        #expect(told.map(\.value) == [30, 0, 100])
        withExtendedLifetime(watch) {}
    }

    @Test func `what is no longer watched is not told`() throws {
        let controls = SyntheticControls(.video)
        let heard = Mutex(0)
        do { _ = controls.watch { _ in heard.withLock { $0 += 1 } } }
        try controls.set("zoom_absolute", to: 200)
        #expect(heard.withLock { $0 } == 0)
    }

    @Test(arguments: [("privacy", 1), ("focus_absolute", 3), ("exposure_auto", 0), ("zoom_absolute", 501)])
    func `a shutter, and values between steps or out of range, are refused`(name: String, value: Int64) throws {
        let controls = SyntheticControls(.video)
        try controls.set("focus_auto", to: 0)
        #expect(code { try controls.set(name, to: value) } == .invalidArgument)
    }

    @Test(arguments: [PixelFormat.yuyv, .nv12])
    func `a crop fills the picture with that part of the sensor`(pixels: PixelFormat) throws {
        let controls = SyntheticControls(.video)
        func bar(at x: Int) throws -> UInt8 {
            let request = VideoFormatRequest(pixelFormat: pixels, width: 320, height: 240)
            let (format, sink) = try record(request, frames: 2, controls: controls)
            let frame = try #require(sink.buffers.first { $0.info.timestamp.nanoseconds % 1_000_000_000 != 0 })
            return UInt8(DigitReader(format: format).luma(frame.bytes, x, 20))
        }
        #expect(try [bar(at: 4), bar(at: 160), bar(at: 316)] == [180, 112, 35])
        // The red and the blue bar: the last two sevenths of its width.
        let right = PixelRectangle(left: 1380, top: 0, width: 540, height: 540)
        try controls.set("crop", to: try #require(right.number))
        #expect(try [bar(at: 4), bar(at: 150), bar(at: 170), bar(at: 316)] == [65, 65, 35, 35])
        let outside = PixelRectangle(left: 1381, top: 0, width: 540, height: 540)
        #expect(code { try controls.set("crop", to: outside.number ?? 0) } == .invalidArgument)
    }

    @Test(arguments: [PixelFormat.yuyv, .nv12])
    func `a shorter exposure is darker, and more gain brighter`(pixels: PixelFormat) throws {
        let controls = SyntheticControls(.video)
        try controls.set("exposure_auto", to: 1)
        func luma() throws -> Int {
            let request = VideoFormatRequest(pixelFormat: pixels, width: 320, height: 240)
            let (format, sink) = try record(request, frames: 2, controls: controls)
            let frame = try #require(sink.buffers.first { $0.info.timestamp.nanoseconds % 1_000_000_000 != 0 })
            return Int(DigitReader(format: format).luma(frame.bytes, 20, 80)) - 16
        }
        let usual = try luma()
        #expect(usual == 180 - 16)
        try controls.set("exposure_time_absolute", to: 78)
        #expect(abs(try luma() - usual / 2) <= 1)
        try controls.set("gain", to: 48)
        #expect(abs(try luma() - usual) <= 1)
    }
}
