import CaptureCore
import Testing

@Suite struct `A preset` {
    private func option(_ sizes: FrameSizes) -> VideoFormatOption {
        VideoFormatOption(pixelFormat: .yuyv, name: "", sizes: sizes)
    }

    private func discrete(_ sizes: (Int, Int)...) -> VideoFormatOption {
        option(
            .discrete(sizes.map { DiscreteSize(width: $0.0, height: $0.1, intervals: .discrete([])) })
        )
    }

    private func stepwise(_ width: (Int, Int, Int), _ height: (Int, Int, Int)) -> VideoFormatOption {
        option(.stepwise(StepwiseSize(width: width, height: height, intervals: .discrete([]))))
    }

    @Test func `that names a size is offered in just that size`() {
        let formats = [discrete((320, 240), (1280, 960)), discrete((1280, 720))]
        #expect(Preset.hd1280x720.isOffered(by: formats))
        #expect(Preset.qvga320x240.isOffered(by: formats))
        // The parts of it are offered, but not together.
        #expect(!Preset.hd1280x720.isOffered(by: [discrete((1280, 960), (960, 720))]))
        #expect(!Preset.hd4K3840x2160.isOffered(by: formats))
    }

    @Test func `is offered by a range that reaches its size in its steps`() {
        #expect(Preset.vga640x480.isOffered(by: [stepwise((320, 1280, 16), (240, 720, 8))]))
        #expect(Preset.vga640x480.isOffered(by: [stepwise((640, 640, 0), (480, 480, 0))]))
        #expect(!Preset.vga640x480.isOffered(by: [stepwise((320, 1280, 17), (240, 720, 8))]))
        #expect(!Preset.hd1920x1080.isOffered(by: [stepwise((320, 1280, 16), (240, 1080, 8))]))
        #expect(!Preset.vga640x480.isOffered(by: [stepwise((1280, 320, 16), (720, 240, 8))]))
    }

    @Test func `without a size is offered by every camera that has a size`() {
        for preset in [Preset.low, .medium, .high, .photo] {
            #expect(preset.isOffered(by: [discrete((99, 77))]))
            #expect(!preset.isOffered(by: [discrete()]))
            #expect(!preset.isOffered(by: []))
        }
    }
}
