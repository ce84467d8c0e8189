import CaptureCore

/// What the synthetic devices offer, and how a request is met from it.
enum SyntheticFormats {
    static let pixelFormats: [PixelFormat] = [.yuyv, .nv12, .yuv420] + sensorFormats.map(\.0)
    /// Bayer patterns of each depth, packed and unpacked, and V4L2's words for them.
    private static let sensorFormats: [(PixelFormat, String)] = [
        ("RGGB", "8-bit Bayer RGRG/GBGB"), ("RG10", "10-bit Bayer RGRG/GBGB"), ("RG12", "12-bit Bayer RGRG/GBGB"),
        ("RG14", "14-bit Bayer RGRG/GBGB"), ("RG16", "16-bit Bayer RGRG/GBGB"),
        ("pRAA", "10-bit Bayer RGRG/GBGB Packed"), ("pRCC", "12-bit Bayer RGRG/GBGB Packed"),
        ("pREE", "14-bit Bayer RGRG/GBGB Packed"),
    ].compactMap { name, words in PixelFormat(name: name).map { ($0, words) } }
    static let sizes = [(320, 240), (640, 480), (1280, 720), (1920, 1080)]
    static let rates = [15, 30, 60]
    static let sampleFormats: [SampleFormat] = [.s16, .float32]
    static let sampleRates = [16_000, 44_100, 48_000]

    static var videoOptions: [VideoFormatOption] {
        let intervals = FrameIntervals.discrete(rates.reversed().map { FrameInterval(framesPerSecond: UInt32($0)) })
        let offered = sizes.map { DiscreteSize(width: $0.0, height: $0.1, intervals: intervals) }
        let names = ["YUYV 4:2:2", "Y/CbCr 4:2:0", "Planar YUV 4:2:0"] + sensorFormats.map(\.1)
        return zip(pixelFormats, names).map {
            VideoFormatOption(pixelFormat: $0, name: $1, sizes: .discrete(offered))
        }
    }

    /// Of the depth camera.
    static var depthOptions: [VideoFormatOption] {
        videoOptions.prefix(1).map { VideoFormatOption(pixelFormat: .z16, name: "16-bit Depth", sizes: $0.sizes) }
    }

    static var audioOptions: [AudioFormatOption] {
        sampleRates.map {
            AudioFormatOption(sampleFormats: sampleFormats.map(\.rawValue), rates: $0...$0, channels: 1...2)
        }
    }

    /// The format nearest to a request: 640x480 in the first format at 30 frames a second where nothing is asked.
    ///
    /// - Throws: `.noSuchFormat` when the request is exact and cannot be met.
    static func negotiate(
        _ request: VideoFormatRequest,
        among pixelFormats: [PixelFormat] = pixelFormats
    ) throws(CaptureError) -> VideoFormat {
        let pixelFormat = request.pixelFormat.flatMap { pixelFormats.contains($0) ? $0 : nil } ?? pixelFormats[0]
        let wanted = (request.width ?? 640, request.height ?? 480)
        let size = nearest(sizes) { abs($0.0 - wanted.0) + abs($0.1 - wanted.1) } ?? (640, 480)
        let rate = nearest(rates) { abs(Double($0) - (request.framesPerSecond ?? 30)) } ?? 30
        let sensor = SensorPixels(pixelFormat, width: size.0)
        let isWide = [.yuyv, .z16].contains(pixelFormat)
        let perRow = sensor?.pitch ?? (isWide ? size.0 * 2 : size.0)
        let bytes = sensor != nil || isWide ? perRow * size.1 : perRow * size.1 * 3 / 2
        let format = VideoFormat(
            pixelFormat: pixelFormat,
            width: size.0,
            height: size.1,
            interval: FrameInterval(framesPerSecond: UInt32(rate)),
            planes: [PlaneLayout(offset: 0, stride: perRow, size: bytes)],
            color: sensor == nil ? pictureColor : sensorColor
        )
        guard !request.isExact || format.fulfils(request) else {
            throw CaptureError(
                .noSuchFormat,
                "this synthetic camera offers \(pixelFormats.map(\.description).joined(separator: ", ")) at 320x240, "
                    + "640x480, 1280x720 and 1920x1080 with 15, 30 or 60 fps, and not what was asked"
            )
        }
        return format
    }

    /// V4L2_COLORSPACE_SMPTE170M, V4L2_XFER_FUNC_709, V4L2_YCBCR_ENC_601, V4L2_QUANTIZATION_LIM_RANGE.
    private static let pictureColor = ColorDescription(colorSpace: 1, transfer: 1, encoding: 1, quantization: 2)
    /// V4L2_COLORSPACE_REC709, V4L2_XFER_FUNC_709, V4L2_QUANTIZATION_FULL_RANGE: numbers that can be shown as they are.
    private static let sensorColor = ColorDescription(colorSpace: 3, transfer: 1, encoding: 0, quantization: 1)

    /// The format nearest to a request, in periods of 10 ms: 48 kHz, 16 bits, stereo where nothing is asked.
    ///
    /// - Throws: `.noSuchFormat` when the request is exact and cannot be met.
    static func negotiate(_ request: AudioFormatRequest) throws(CaptureError) -> AudioFormat {
        let sampleFormat = request.sampleFormat.flatMap { sampleFormats.contains($0) ? $0 : nil } ?? .s16
        let rate = nearest(sampleRates) { abs($0 - (request.sampleRate ?? 48_000)) } ?? 48_000
        let channels = min(max(request.channels ?? 2, 1), 2)
        let format = AudioFormat(
            sampleFormat: sampleFormat,
            sampleRate: rate,
            channels: channels,
            periodFrames: rate / 100
        )
        guard !request.isExact || format.fulfils(request) else {
            throw CaptureError(
                .noSuchFormat,
                "the synthetic microphone offers S16_LE and FLOAT_LE, mono and stereo, at 16000, 44100 and 48000 "
                    + "Hz, and not what was asked"
            )
        }
        return format
    }

    private static func nearest<Item>(_ items: [Item], _ distance: (Item) -> some Comparable) -> Item? {
        items.min { distance($0) < distance($1) }
    }
}
