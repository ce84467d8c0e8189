import CLinux
import CaptureCore
import CaptureSystem
import Testing

@testable import CaptureDevices

@Suite struct `The count of lost frames` {
    private func losses(_ numbers: [UInt32], joinsLate: Bool = false) -> [UInt32] {
        var counter = SequenceCounter(joinsLate: joinsLate)
        return numbers.map { counter.advance(to: $0).lost }
    }

    @Test func `is the gap in the driver's numbers`() {
        #expect(losses([0, 1, 4, 5, 7]) == [0, 0, 2, 0, 1])
    }

    @Test func `begins at whatever number comes first`() {
        #expect(losses([17, 18]) == [0, 0])
    }

    @Test func `does not mind repeated numbers`() {
        #expect(losses([3, 3, 4, 4, 4, 6]) == [0, 0, 0, 0, 0, 1])
    }

    @Test func `goes on when the numbers wrap`() {
        var counter = SequenceCounter()
        let steps = [UInt32.max - 1, UInt32.max, 0, 2].map { counter.advance(to: $0) }
        #expect(steps.map(\.lost) == [0, 0, 0, 1])
        #expect(steps.map(\.sequence) == [4_294_967_294, 4_294_967_295, 4_294_967_296, 4_294_967_298])
    }

    @Test func `is not told by numbers across a restart of our own, but by the time that it took`() {
        var counter = SequenceCounter()
        for number in [7, 8] as [UInt32] { _ = counter.advance(to: number) }
        counter.restart()
        // A driver that counts on as much as one that begins at 0.
        #expect(counter.advance(to: 30) == SequenceCounter.Step(sequence: 9, lost: 0, restarted: true))
        func frames(_ last: Int64, _ first: Int64, _ interval: Int64 = 100) -> Int64 {
            CaptureLoop.frames(
                between: Timestamp(nanoseconds: last),
                and: Timestamp(nanoseconds: first),
                every: interval
            )
        }
        #expect([1100, 1149, 1150, 1249, 1250, 1900].map { frames(1000, $0) } == [0, 0, 1, 1, 2, 8])
        #expect(frames(1000, 900) == 0)
        #expect(frames(1000, 9000, 0) == 0)
    }

    @Test func `says when the driver began anew, and claims no loss`() {
        var counter = SequenceCounter()
        _ = counter.advance(to: 1000)
        let step = counter.advance(to: 0)
        #expect(step == SequenceCounter.Step(sequence: 1001, lost: 0, restarted: true))
        #expect(counter.advance(to: 1).lost == 0)
    }

    @Test func `leaves out what a loopback's writer did before the stream began`() {
        #expect(losses([0, 96, 97, 99], joinsLate: true) == [0, 0, 0, 1])
    }
}

@Suite struct `A compressed frame` {
    private func length(_ bytes: [UInt8]) -> Int? {
        unsafe bytes.withUnsafeBytes { unsafe JPEGImage.length($0) }
    }

    private func isKeyframe(_ bytes: [UInt8], _ format: PixelFormat) -> Bool {
        unsafe bytes.withUnsafeBytes { unsafe CompressedFrame.isKeyframe($0, format) }
    }

    /// A JPEG of an APP0 segment that holds a small JPEG, a scan, and entropy-coded data with a stuffed byte and a restart.
    private let whole: [UInt8] =
        [0xff, 0xd8] + [0xff, 0xe0, 0, 6, 0xff, 0xd8, 0xff, 0xd9] + [0xff, 0xda, 0, 3, 1]
        + [9, 8, 0xff, 0, 7, 0xff, 0xd3, 6, 5] + [0xff, 0xd9]

    @Test func `is a whole JPEG from its first marker through its last`() {
        #expect(length(whole) == whole.count)
    }

    @Test(
        arguments: [
            Array(repeating: 0, count: 5000), Array(repeating: 0xff, count: 500), [0x0d, 0x0a], [1, 2, 0xff, 0xd9],
            Array(repeating: 7, count: 9000) + [0xff, 0xd9, 0, 0],
        ] as [[UInt8]]
    )
    func `is cut off behind a JPEG's end, whatever follows`(rest: [UInt8]) {
        #expect(length(whole + rest) == whole.count)
    }

    /// Blocks of 64 bytes are looked at together.
    @Test(arguments: Array(0...130)) func `ends where its end is, wherever that lies`(place: Int) {
        let filling: [[UInt8]] = [[7], [0xff, 0], [0xff, 0xd4], [0, 0xff, 0]]
        for filler in filling {
            var data = (0..<place).map { filler[$0 % filler.count] }
            // What stands before the end is no half of something.
            if data.last == 0xff { data[data.count - 1] = 1 }
            let frame = Array(whole.dropLast(2)) + data + [0xff, 0xd9]
            #expect(length(frame) == frame.count)
            #expect(length(frame + Array(repeating: 9, count: 200) + [0xff, 0xd9]) == frame.count)
            #expect(length(Array(frame.dropLast())) == nil)
            #expect(length(frame.dropLast(2) + Array(repeating: 9, count: 200)) == nil)
        }
    }

    @Test func `has two scans when it is progressive`() {
        let second: [UInt8] = [0xff, 0xda, 0, 3, 1, 4, 4, 0xff, 0xd9]
        #expect(length(whole.dropLast(2) + second) == whole.count - 2 + second.count)
    }

    @Test func `is broken wherever it breaks off`() {
        for count in 0..<whole.count { #expect(length(Array(whole[..<count])) == nil, "\(count)") }
    }

    @Test(
        arguments: [
            [0, 0, 0, 0, 0xff, 0xd9], [0xff, 0xd8, 1, 2, 3, 0xff, 0xd9], [0xff, 0xd8, 0xff, 0xd9],
            Array(repeating: 0, count: 100), [0xff, 0xd8] + Array(repeating: 0, count: 100),
            [0xff, 0xd8, 0xff, 0xe0, 0, 0, 0xff, 0xd9], [0xff, 0xd8] + Array(repeating: 0xff, count: 100),
        ] as [[UInt8]]
    )
    func `is broken without markers where they must be`(bytes: [UInt8]) {
        #expect(length(bytes) == nil)
    }

    @Test func `is a keyframe by its first slice`() {
        let parameters: [UInt8] = [0, 0, 0, 1, 0x67, 1, 2, 0, 0, 1, 0x68, 3]
        #expect(isKeyframe(parameters + [0, 0, 1, 0x65, 9, 9], .h264))
        #expect(!isKeyframe(parameters + [0, 0, 1, 0x41, 9, 9, 0, 0, 1, 0x65], .h264))
        #expect(!isKeyframe([], .h264))
        #expect(!isKeyframe([0, 0, 1], .h264))
        #expect(isKeyframe([0, 0, 1, 0x40, 1, 0, 0, 1, 0x26, 1], .hevc))
        #expect(!isKeyframe([0, 0, 1, 0x40, 1, 0, 0, 1, 0x02, 1], .hevc))
    }
}

@Suite struct `What a buffer tells` {
    private func format(_ pixelFormat: PixelFormat, stride: Int, size: Int) -> VideoFormat {
        VideoFormat(
            pixelFormat: pixelFormat,
            width: 64,
            height: 4,
            interval: FrameInterval(1, 30),
            planes: [PlaneLayout(offset: 0, stride: stride, size: size)]
        )
    }

    private func buffer(_ used: UInt32, flags: Int32, seconds: Int64 = 0) -> clinux_v4l2_buffer {
        var raw = clinux_v4l2_buffer()
        raw.used.0 = used
        raw.flags = UInt32(bitPattern: flags)
        raw.seconds = seconds
        return raw
    }

    /// What an inspector makes of a buffer of zeros; `nil` when it is broken.
    private func inspect(_ raw: clinux_v4l2_buffer, _ format: VideoFormat) -> BufferInfo? {
        var inspector = FrameInspector(format, joinsLate: false)
        let bytes = [UInt8](repeating: 0, count: inspector.used(raw, 0))
        return unsafe bytes.withUnsafeBytes { bytes in
            unsafe inspector.picture(raw, bytes).map { unsafe inspector.info(raw, $0) }
        }
    }

    @Test func `is that a raw frame lacks bytes`() {
        let yuyv = format(.yuyv, stride: 128, size: 512)
        #expect(inspect(buffer(512, flags: 0), yuyv)?.bytesUsed.0 == 512)
        #expect(inspect(buffer(511, flags: 0), yuyv) == nil)
        #expect(inspect(buffer(0, flags: 0), yuyv) == nil)
        let nv12 = format(.nv12, stride: 64, size: 384)
        #expect(inspect(buffer(384, flags: 0), nv12) != nil)
        #expect(inspect(buffer(256, flags: 0), nv12) == nil)
    }

    @Test func `is that it is broken`() {
        let flags = V4L2_BUF_FLAG_ERROR
        #expect(inspect(buffer(512, flags: flags), format(.yuyv, stride: 128, size: 512)) == nil)
    }

    @Test func `never is more than its plane holds`() {
        let info = inspect(buffer(9999, flags: 0), format(.yuyv, stride: 128, size: 512))
        #expect(info?.bytesUsed.0 == 512)
    }

    @Test func `is which clock stamped it, and where in the frame`() throws {
        let yuyv = format(.yuyv, stride: 128, size: 512)
        let now = Timestamp.now.nanoseconds / 1_000_000_000
        let flags = V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC | V4L2_BUF_FLAG_TSTAMP_SRC_SOE
        let stamped = try #require(inspect(buffer(512, flags: flags, seconds: now), yuyv))
        #expect(stamped.flags == [.monotonic, .startOfExposure, .keyframe])
        #expect(stamped.timestamp.nanoseconds == now * 1_000_000_000)

        for unusable in [V4L2_BUF_FLAG_TIMESTAMP_COPY, 0] {
            let info = try #require(inspect(buffer(512, flags: unusable, seconds: now), yuyv))
            #expect(info.flags == [.stampedOnArrival, .keyframe])
            #expect(abs(info.timestamp - .now) < 5_000_000_000)
        }
    }

    @Test func `is not believed when its clock is hours off`() throws {
        let raw = buffer(512, flags: V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC, seconds: 1 << 40)
        let info = try #require(inspect(raw, format(.yuyv, stride: 128, size: 512)))
        #expect(info.flags.contains(.stampedOnArrival))
    }

    @Test func `is that an access unit is a keyframe when the driver says so`() {
        let h264 = format(.h264, stride: 0, size: 512)
        let marked = inspect(buffer(100, flags: V4L2_BUF_FLAG_KEYFRAME), h264)
        #expect(marked?.flags.contains(.keyframe) == true)
        #expect(inspect(buffer(100, flags: 0), h264)?.flags.contains(.keyframe) == false)
    }
}
