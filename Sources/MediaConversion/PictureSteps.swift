import CLibAV
import CaptureCore
import Glibc

/// Makes another picture of a picture in memory of the program's own. Thread-bound.
protocol PictureStep: AnyObject {
    /// What comes out.
    var layout: PictureLayout { get }

    /// Fills `to`, which may be where `from` is when both have the same layout.
    func run(_ from: PicturePlanes, _ to: PicturePlanes)
}

/// From one kind of samples to another, by libswscale. Thread-bound.
@safe
final class PictureScaler: PictureStep {
    let layout: PictureLayout
    private let source: PictureLayout
    private let scaler: OpaquePointer

    /// A scaler between pictures of one size.
    init(
        _ source: PictureLayout,
        _ sourceColor: ColorMeaning,
        to layout: PictureLayout,
        _ color: ColorMeaning
    ) throws(CaptureError) {
        try LibAV.load()
        self.source = source
        self.layout = layout
        let (width, height) = (Int32(layout.width), Int32(layout.height))
        let flags = SWS_BILINEAR | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT | SWS_FULL_CHR_H_INP | Int32(SWS_BITEXACT)
        unsafe scaler = try LibAV.made(
            sws_getContext(
                width,
                height,
                source.samples.format,
                width,
                height,
                layout.samples.format,
                flags,
                nil,
                nil,
                nil
            )
        )
        let (from, to) = unsafe (
            sws_getCoefficients(sourceColor.matrix.coefficients), sws_getCoefficients(color.matrix.coefficients)
        )
        // Red, green and blue have the full range here.
        try unsafe LibAV.check(
            "set the colours of a conversion",
            sws_setColorspaceDetails(
                scaler,
                from,
                source.samples == .rgb || sourceColor.isFullRange ? 1 : 0,
                to,
                layout.samples == .rgb || color.isFullRange ? 1 : 0,
                0,
                1 << 16,
                1 << 16
            )
        )
    }

    deinit {
        unsafe sws_freeContext(scaler)
    }

    func run(_ from: PicturePlanes, _ to: PicturePlanes) {
        let sources: [UnsafePointer<UInt8>?] = unsafe [
            UnsafePointer(from.y), UnsafePointer(from.u), UnsafePointer(from.v), nil,
        ]
        let targets: [UnsafeMutablePointer<UInt8>?] = unsafe [to.y, to.u, to.v, nil]
        unsafe _ = sws_scale(scaler, sources, source.strides, 0, Int32(source.height), targets, layout.strides)
    }
}

extension PictureLayout {
    fileprivate var strides: [Int32] { [Int32(row), Int32(chromaWidth), Int32(chromaWidth), 0] }
}

extension PictureLayout.Samples {
    /// In the words of libavutil.
    fileprivate var format: AVPixelFormat {
        switch self {
        case .yuv420: AV_PIX_FMT_YUV420P
        case .yuv422: AV_PIX_FMT_YUV422P
        case .yuv444: AV_PIX_FMT_YUV444P
        case .rgb: AV_PIX_FMT_RGB24
        }
    }
}

extension ColorMeaning.Matrix {
    /// In the words of libswscale.
    fileprivate var coefficients: Int32 {
        switch self {
        case .bt601: Int32(SWS_CS_ITU601)
        case .bt709: Int32(SWS_CS_ITU709)
        case .bt2020, .bt2020Constant: Int32(SWS_CS_BT2020)
        case .smpte240: Int32(SWS_CS_SMPTE240M)
        }
    }
}

/// Turns opRGB, which files cannot name, into sRGB. Colours outside of sRGB are cut off.
/// Thread-bound.
final class Recolorer: PictureStep {
    let layout: PictureLayout
    private let linear: [Float]
    private let encoded: [UInt8]
    /// Rows: red, green and blue of sRGB; from the primaries of IEC 61966-2-5, whose white is the same.
    private static let mix: [(Float, Float, Float)] = [
        (1.398_36, -0.398_36, 0), (0, 1, 0), (0, -0.042_93, 1.042_93),
    ]
    private static let steps = 4095

    /// A step on pictures of red, green and blue.
    init(_ layout: PictureLayout, _ color: ColorMeaning) {
        self.layout = layout
        linear = (0..<256).map { Float(Transfer(color).light(Double($0) / 255)) }
        encoded = (0...Recolorer.steps).map {
            UInt8((Transfer.srgb.signal(Double($0) / Double(Recolorer.steps)) * 255).rounded())
        }
    }

    func run(_ from: PicturePlanes, _ to: PicturePlanes) {
        for index in 0..<layout.width * layout.height {
            let (source, target) = unsafe (from.y + 3 * index, to.y + 3 * index)
            let (red, green, blue) = unsafe (linear[Int(source[0])], linear[Int(source[1])], linear[Int(source[2])])
            for part in 0..<3 {
                let weights = Recolorer.mix[part]
                let light = weights.0 * red + weights.1 * green + weights.2 * blue
                unsafe target[part] = encoded[Int(max(0, min(1, light)) * Float(Recolorer.steps) + 0.5)]
            }
        }
    }
}

/// From luma of linear light, as BT.2020 has it beside the usual one, to red, green and blue. Thread-bound.
final class ConstantLuminance: PictureStep {
    let layout: PictureLayout
    private let isFullRange: Bool
    private let linear: [Float]
    private let encoded: [Float]
    private static let steps = 4095

    /// A step on pictures of a chroma for each pixel.
    init(_ source: PictureLayout, _ color: ColorMeaning) {
        layout = source.with(.rgb)
        isFullRange = color.isFullRange
        let steps = Double(ConstantLuminance.steps)
        linear = (0...ConstantLuminance.steps).map { Float(Transfer.rec709.light(Double($0) / steps)) }
        encoded = (0...ConstantLuminance.steps).map { Float(Transfer.rec709.signal(Double($0) / steps)) }
    }

    func run(_ from: PicturePlanes, _ to: PicturePlanes) {
        let (black, white, swing): (Float, Float, Float) = isFullRange ? (0, 255, 255) : (16, 219, 224)
        func place(_ value: Float) -> Int { Int(max(0, min(1, value)) * Float(ConstantLuminance.steps) + 0.5) }
        for index in 0..<layout.width * layout.height {
            let luma = unsafe (Float(from.y[index]) - black) / white
            let (cb, cr) = unsafe ((Float(from.u[index]) - 128) / swing, (Float(from.v[index]) - 128) / swing)
            // ITU-R BT.2020-2, table 4.
            let blue = luma + cb * (cb <= 0 ? 1.9404 : 1.5816)
            let red = luma + cr * (cr <= 0 ? 1.7184 : 0.9936)
            let light = (linear[place(luma)] - 0.2627 * linear[place(red)] - 0.0593 * linear[place(blue)]) / 0.6780
            let target = unsafe to.y + 3 * index
            for (part, value) in [red, encoded[place(light)], blue].enumerated() {
                unsafe target[part] = UInt8(max(0, min(1, value)) * 255 + 0.5)
            }
        }
    }
}

/// Between the light of a pixel and the number that stands for it, both 0 to 1.
package enum Transfer: Equatable {
    case rec709, srgb, opRGB, smpte240, smpte2084, linear, power(Double)

    /// What V4L2 means, with its defaults by colour space.
    init(_ color: ColorMeaning) {
        switch (color.transfer, color.colorSpace) {
        case (1, _): self = .rec709
        case (2, _): self = .srgb
        case (3, _), (0, ColorMeaning.Space.opRGB): self = .opRGB
        case (4, _), (0, ColorMeaning.Space.smpte240): self = .smpte240
        case (5, _): self = .linear
        case (6, _), (0, ColorMeaning.Space.dciP3): self = .power(2.6)
        case (0, ColorMeaning.Space.srgb), (0, ColorMeaning.Space.jpeg): self = .srgb
        default: self = .rec709
        }
    }

    /// The light of a number.
    package func light(_ signal: Double) -> Double {
        switch self {
        case .rec709: signal < 0.081 ? signal / 4.5 : pow((signal + 0.099) / 1.099, 1 / 0.45)
        case .srgb: signal <= 0.04045 ? signal / 12.92 : pow((signal + 0.055) / 1.055, 2.4)
        case .opRGB: pow(signal, 563.0 / 256)
        case .smpte240: signal < 0.0913 ? signal / 4 : pow((signal + 0.1115) / 1.1115, 1 / 0.45)
        case .smpte2084:
            pow(
                max(pow(signal, 1 / 78.84375) - 0.8359375, 0) / (18.8515625 - 18.6875 * pow(signal, 1 / 78.84375)),
                1 / 0.1593017578125
            )
        case .linear: signal
        case .power(let exponent): pow(signal, exponent)
        }
    }

    /// The number of a light.
    func signal(_ light: Double) -> Double {
        switch self {
        case .rec709: light < 0.018 ? light * 4.5 : 1.099 * pow(light, 0.45) - 0.099
        case .srgb: light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
        case .opRGB: pow(light, 256.0 / 563)
        case .smpte240: light < 0.0228 ? light * 4 : 1.1115 * pow(light, 0.45) - 0.1115
        case .smpte2084:
            pow(
                (0.8359375 + 18.8515625 * pow(light, 0.1593017578125)) / (1 + 18.6875 * pow(light, 0.1593017578125)),
                78.84375
            )
        case .linear: light
        case .power(let exponent): pow(light, 1 / exponent)
        }
    }
}
