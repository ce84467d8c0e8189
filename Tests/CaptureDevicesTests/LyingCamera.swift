import CLinux
import CaptureCore
import CaptureRing
import CaptureSystem
import LyingDriver
import Synchronization
import TestSupport
import Testing

@testable import CaptureDevices

/// A camera with real code above ioctls whose results the test chooses.
final class LyingCamera {
    static let width: UInt32 = 64
    static let height: UInt32 = 32
    static let size = width * height * 2

    let number: Int32
    private var answers: lying_answers

    init(_ change: (inout lying_answers) -> Void = { _ in }) throws {
        answers = lying_answers()
        answers.format = LyingCamera.format()
        answers.numerator = 1
        answers.denominator = 30
        change(&answers)
        number = unsafe lying_driver_new(&answers)
        try #require(number >= 0)
    }

    /// YUYV of 64x32 pixels, except for the given changes.
    static func format(
        _ pixelFormat: PixelFormat = .yuyv,
        width: UInt32 = width,
        height: UInt32 = height,
        stride: UInt32 = width * 2,
        size: UInt32 = size
    ) -> lying_format {
        lying_format(pixelformat: pixelFormat.rawValue, width: width, height: height, stride: stride, size: size)
    }

    var description: DeviceDescription {
        DeviceDescription(
            id: DeviceID(rawValue: "v4l2:lies-\(number)"),
            mediaType: .video,
            name: "Lies",
            aliases: ["/dev/video-lies-\(number)"],
            driver: "lies",
            bus: "platform:lies",
            videoFormats: []
        )
    }

    /// How many calls the driver has answered.
    var calls: UInt64 { lying_driver_calls(number) }

    /// Sets what the driver says from now on.
    func say(_ change: (inout lying_answers) -> Void) {
        change(&answers)
        unsafe lying_driver_answer(number, &answers)
    }

    func open() async throws -> V4L2Camera {
        try V4L2Camera.open(description, VideoFormatRequest(), grant: try await TestGrants.camera())
    }

    /// Lets the driver return a buffer: by default the one it got first, full and on time.
    func deliver(
        _ sequence: UInt32,
        index: UInt32 = .max,
        used: UInt32 = size,
        flags: Int32 = V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC,
        at time: Timestamp = .now
    ) {
        let now = time.nanoseconds
        var frame = lying_frame(
            index: index,
            used: used,
            flags: UInt32(flags),
            sequence: sequence,
            seconds: now / 1_000_000_000,
            microseconds: now / 1000 % 1_000_000
        )
        unsafe lying_driver_deliver(number, &frame)
    }

    func unplug() { lying_driver_unplug(number) }
}

/// A stream from a camera, with its end.
final class LyingStream {
    private final class Ending: Sendable {
        let failure = Mutex<CaptureError?>(nil)
        let signal: EventSignal
        init() throws { signal = try EventSignal() }
    }

    let camera: V4L2Camera
    let ring: RingWriter
    private let reader: RingReader
    private let ending: Ending

    /// Starts the stream. If `isMapped`, it has more slots than V4L2 has buffers, so that frames are copied.
    init(_ lying: LyingCamera, isMapped: Bool = false) async throws {
        camera = try await lying.open()
        let ending = try Ending()
        self.ending = ending
        let slots = isMapped ? 40 : camera.slotsInFlight + 4
        ring = try RingWriter(format: camera.format, slots: slots, kept: 2, name: "lies")
        reader = try RingReader(mapping: ring.file, fromStart: true)
        try camera.start(into: ring) { error in
            ending.failure.withLock { $0 = error }
            ending.signal.raise()
        }
    }

    /// The next frame; `nil` if none comes.
    func next() throws -> BufferInfo? {
        guard case .buffer(let frame) = try reader.next(timeout: 30_000_000_000) else { return nil }
        return frame.info
    }

    /// Waits until the stream ends by itself, and returns the reason.
    func end() throws -> CaptureError {
        _ = try Poll.wait(ending.signal.descriptor, timeout: 60_000)
        let error = try #require(ending.failure.withLock { $0 })
        while ring.end == nil { guard try next() != nil else { break } }
        #expect(ring.end == .deviceLost)
        return error
    }
}
