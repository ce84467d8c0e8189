import Testing

@testable import CaptureCore

@Suite struct `The size of a picture` {
    private func discrete(_ sizes: (Int, Int)..., format: PixelFormat = .yuyv) -> VideoFormatOption {
        VideoFormatOption(
            pixelFormat: format,
            name: "",
            sizes: .discrete(sizes.map { DiscreteSize(width: $0.0, height: $0.1, intervals: .discrete([])) })
        )
    }

    private func stepwise(_ width: (Int, Int, Int), _ height: (Int, Int, Int)) -> VideoFormatOption {
        let range = StepwiseSize(width: width, height: height, intervals: .discrete([]))
        return VideoFormatOption(pixelFormat: .yuyv, name: "", sizes: .stepwise(range))
    }

    private func nearest(_ width: Int, _ height: Int, _ formats: VideoFormatOption...) -> [String] {
        formats.nearest(to: PictureSize(width: width, height: height)).map(\.description)
    }

    @Test func `is offered by the formats that have just it`() throws {
        let formats = [discrete((640, 480), (1280, 720)), discrete((1280, 720), format: .mjpeg)]
        let size = PictureSize(width: 1280, height: 720)
        #expect(try formats.offering(size, of: "A camera").map(\.pixelFormat) == [.yuyv, .mjpeg])
        #expect(formats.offering(PictureSize(width: 640, height: 480)).map(\.pixelFormat) == [.yuyv])
        let error = #expect(throws: CaptureError.self) {
            try formats.offering(PictureSize(width: 1280, height: 721), of: "A camera", as: "in colour")
        }
        #expect(error?.code == .invalidArgument)
        #expect(error?.message == "A camera has no size of 1280x721 in colour; the nearest: 1280x720, 640x480")
    }

    @Test func `has nearest ones, by ratios`() {
        let few = discrete((320, 240), (640, 480), (1280, 720), (1920, 1080))
        #expect(nearest(1900, 1000, few) == ["1920x1080", "1280x720", "640x480"])
        #expect(nearest(1, 1, few).first == "320x240")
        #expect(nearest(.max, .max, few).first == "1920x1080")
        #expect(nearest(500, 500, stepwise((16, 4096, 16), (16, 4096, 16))) == ["496x496"])
        #expect(nearest(505, 5000, stepwise((16, 4096, 16), (16, 4090, 16))) == ["512x4080"])
        // Ranges that drivers should not tell.
        #expect(nearest(5, 5, stepwise((8, 4, 0), (1, 9, 1))) == [])
        #expect(nearest(5, 5, stepwise((1, 9, 0), (1, 9, 1 << 40))) == ["5x1"])
        #expect(nearest(5, 5) == [])
    }

    @Test func `is refused by a camera that names none, and out of range`() {
        let none = #expect(throws: CaptureError.self) {
            try [].offering(PictureSize(width: 1, height: 1), of: "A camera")
        }
        #expect(none?.code == .invalidArgument && none?.message.contains("names no sizes") == true)
        for size in [(0, 1), (1, 0), (-1, 1), (1 << 31, 1), (1, .max)] {
            var settings = PhotoSettings(size: PictureSize(width: size.0, height: size.1))
            let error = #expect(throws: CaptureError.self) { try settings.check(files: 1) }
            #expect(error?.message.contains("out of range") == true)
            settings.size = PictureSize(width: 1, height: 1 << 20)
            #expect(throws: Never.self) { try settings.check(files: 1) }
        }
    }
}
