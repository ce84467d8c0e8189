import CaptureCore
import TestSupport
import Testing

@testable import CaptureDevices

/// A webcam as many are: raw at 30 frames a second in small sizes alone, MJPEG in all.
private let webcam = [
    option(.yuyv, [(640, 480, [30, 15]), (1280, 720, [10, 5]), (1920, 1080, [5])]),
    option(.mjpeg, [(640, 480, [30]), (1280, 720, [60, 30]), (1920, 1080, [30])]),
]

private func option(_ format: PixelFormat, _ sizes: [(Int, Int, [UInt32])]) -> VideoFormatOption {
    VideoFormatOption(
        pixelFormat: format,
        name: "\(format)",
        sizes: .discrete(
            sizes.map { width, height, rates in
                DiscreteSize(
                    width: width,
                    height: height,
                    intervals: .discrete(rates.map { FrameInterval(framesPerSecond: $0) })
                )
            }
        )
    )
}

private func choose(
    _ options: [VideoFormatOption],
    _ request: VideoFormatRequest
) throws -> String {
    let choice = try FormatNegotiation(options: options).choose(request)
    let rate = choice.interval.map { " at \($0)" } ?? ""
    return "\(choice.pixelFormat) \(choice.width)x\(choice.height)\(rate)"
}

@Suite struct `Negotiation of a format` {
    @Test func `takes raw frames where they come at the wanted rate`() throws {
        #expect(try choose(webcam, Preset.medium.request) == "YUYV 640x480 at 30 fps")
    }

    @Test func `takes compressed frames where raw ones are too slow`() throws {
        #expect(try choose(webcam, Preset.high.request) == "MJPG 1280x720 at 30 fps")
        #expect(try choose(webcam, Preset.hd1920x1080.request) == "MJPG 1920x1080 at 30 fps")
    }

    @Test func `takes raw frames at a rate that is low but wanted`() throws {
        let request = VideoFormatRequest(width: 1280, height: 720, framesPerSecond: 10)
        #expect(try choose(webcam, request) == "YUYV 1280x720 at 10 fps")
    }

    @Test func `keeps to a pixel format that is asked for`() throws {
        let request = VideoFormatRequest(pixelFormat: .yuyv, width: 1280, height: 720, framesPerSecond: 30)
        #expect(try choose(webcam, request) == "YUYV 1280x720 at 10 fps")
    }

    @Test func `takes another pixel format than one that is not there`() throws {
        let request = VideoFormatRequest(pixelFormat: .nv12, width: 640, height: 480)
        #expect(try choose(webcam, request) == "YUYV 640x480 at 30 fps")
    }

    @Test func `prefers the size to the rate`() throws {
        let slow = [option(.yuyv, [(640, 360, [40]), (1280, 720, [12])])]
        #expect(try choose(slow, Preset.high.request) == "YUYV 1280x720 at 12 fps")
    }

    @Test(arguments: [
        (1280, 720, "1920x1080"), (700, 500, "640x480"), (1, 1, "640x480"), (1 << 20, 1 << 20, "1920x1080"),
    ])
    func `takes the nearest size by ratio`(width: Int, height: Int, expected: String) throws {
        let sizes = [option(.yuyv, [(640, 480, [30]), (1920, 1080, [30])])]
        let chosen = try choose(sizes, VideoFormatRequest(width: width, height: height))
        #expect(chosen == "YUYV \(expected) at 30 fps")
    }

    @Test func `takes about 720p where nothing is asked`() throws {
        #expect(try choose(webcam, VideoFormatRequest()) == "MJPG 1280x720 at 30 fps")
    }

    @Test func `takes 29 point 97 for 30`() throws {
        var sizes = option(.yuyv, [])
        sizes.sizes = .discrete(
            [DiscreteSize(width: 640, height: 480, intervals: .discrete([FrameInterval(1001, 30000)]))]
        )
        let exact = VideoFormatRequest(width: 640, height: 480, framesPerSecond: 30, isExact: true)
        #expect(try choose([sizes], exact) == "YUYV 640x480 at 29.97 fps")
    }

    @Test func `takes no photo by itself that is larger than 4K where a range has no end`() throws {
        func range(to width: Int, _ height: Int) -> VideoFormatOption {
            VideoFormatOption(
                pixelFormat: .yuyv,
                name: "YUYV",
                sizes: .stepwise(
                    StepwiseSize(
                        width: (48, width, 2),
                        height: (32, height, 2),
                        intervals: .discrete([FrameInterval(1, 30)])
                    )
                )
            )
        }
        #expect(try choose([range(to: 16384, 8640)], Preset.photo.request) == "YUYV 3840x2160 at 30 fps")
        #expect(try choose([range(to: 2592, 1944)], Preset.photo.request) == "YUYV 2592x1944 at 30 fps")
        // Who asks for more gets it.
        let large = VideoFormatRequest(width: 16384, height: 8640)
        #expect(try choose([range(to: 16384, 8640)], large) == "YUYV 16384x8640 at 30 fps")
    }

    @Test func `steps to the nearest size in a range`() throws {
        let range = VideoFormatOption(
            pixelFormat: .nv12,
            name: "NV12",
            sizes: .stepwise(
                StepwiseSize(
                    width: (32, 4096, 16),
                    height: (32, 2160, 2),
                    intervals: .range(
                        shortest: FrameInterval(1, 60),
                        longest: FrameInterval(1, 1),
                        step: nil
                    )
                )
            )
        )
        let odd = VideoFormatRequest(width: 1001, height: 563, framesPerSecond: 25)
        #expect(try choose([range], odd) == "NV12 1008x564 at 25 fps")
        #expect(try choose([range], VideoFormatRequest(width: 9999, height: 9999)) == "NV12 4096x2160 at 30 fps")
        #expect(throws: CaptureError.self) {
            try choose([range], VideoFormatRequest(width: 1001, height: 564, isExact: true))
        }
        let exact = VideoFormatRequest(width: 1008, height: 564, framesPerSecond: 60, isExact: true)
        #expect(try choose([range], exact) == "NV12 1008x564 at 60 fps")
    }

    @Test func `leaves the rate to a driver that names none`() throws {
        let silent = [option(.yuyv, [(640, 480, [])])]
        #expect(try choose(silent, VideoFormatRequest(framesPerSecond: 50)) == "YUYV 640x480")
    }

    @Test(arguments: [
        (VideoFormatRequest(pixelFormat: .nv12, isExact: true), "no format NV12; it offers YUYV, MJPG"),
        (
            VideoFormatRequest(pixelFormat: .yuyv, width: 800, height: 600, isExact: true),
            "no size 800x600 in YUYV; it offers 640x480, 1280x720, 1920x1080"
        ),
        (
            VideoFormatRequest(pixelFormat: .yuyv, width: 1280, height: 720, framesPerSecond: 30, isExact: true),
            "no rate of 30 frames a second in YUYV at 1280x720; it offers 10 fps, 5 fps"
        ),
    ])
    func `says what there is when the exact format is not`(request: VideoFormatRequest, sentence: String) {
        let error = #expect(throws: CaptureError.self) { try choose(webcam, request) }
        #expect(error?.code == .noSuchFormat)
        #expect(error?.message.contains(sentence) == true, "\(error?.message ?? "")")
    }

    @Test func `finds the exact format whichever pixel format has it`() throws {
        let request = VideoFormatRequest(width: 1280, height: 720, framesPerSecond: 60, isExact: true)
        #expect(try choose(webcam, request) == "MJPG 1280x720 at 60 fps")
    }

    @Test(arguments: [
        VideoFormatRequest(width: 0), VideoFormatRequest(height: -1), VideoFormatRequest(width: 1 << 21),
        VideoFormatRequest(framesPerSecond: 0), VideoFormatRequest(framesPerSecond: .infinity),
        VideoFormatRequest(framesPerSecond: .nan),
    ])
    func `refuses numbers that no camera has`(request: VideoFormatRequest) {
        #expect(code { try choose(webcam, request) } == .invalidArgument)
    }

    @Test func `says so when a camera offers nothing`() {
        #expect(code { try choose([], VideoFormatRequest()) } == .noSuchFormat)
    }
}

@Suite struct `Frame intervals` {
    @Test func `are stepped through from the shortest`() {
        // In units of 100 ns, as UVC has them: 30 to 5 fps in steps of 10 ms.
        let range = FrameIntervals.range(
            shortest: FrameInterval(333_333, 10_000_000),
            longest: FrameInterval(2_000_000, 10_000_000),
            step: FrameInterval(100_000, 10_000_000)
        )
        #expect(range.nearest(to: 30) == FrameInterval(333_333, 10_000_000))
        #expect(range.nearest(to: 120) == FrameInterval(333_333, 10_000_000))
        #expect(range.nearest(to: 1) == FrameInterval(2_000_000, 10_000_000))
        #expect(range.nearest(to: 15)?.nanoseconds == 63_333_300)
        #expect(range.offers(30))
        #expect(!range.offers(25))
    }

    @Test func `of a continuous range are just what is asked`() {
        let range = FrameIntervals.range(shortest: FrameInterval(1, 120), longest: FrameInterval(1, 1), step: nil)
        #expect(range.nearest(to: 25) == FrameInterval(1, 25))
        #expect(range.nearest(to: 30000 / 1001) == FrameInterval(1001, 30000))
        #expect(range.nearest(to: 12.5)?.nanoseconds == 80_000_000)
        #expect(range.nearest(to: 240) == FrameInterval(1, 120))
    }

    @Test func `are nearest by ratio`() {
        let intervals = FrameIntervals.discrete([25, 50, 100].map { FrameInterval(framesPerSecond: $0) })
        #expect(intervals.nearest(to: 30) == FrameInterval(1, 25))
        #expect(intervals.nearest(to: 70) == FrameInterval(1, 50))
        #expect(FrameIntervals.discrete([]).nearest(to: 30) == nil)
    }
}
