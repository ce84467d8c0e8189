import CLibAV
import CaptureCore
import Glibc

/// A picture of red, green, blue and opacity, a byte each.
struct Raster {
    let width: Int
    let height: Int
    /// Bytes from row to row.
    let stride: Int
    /// The rows.
    private(set) var pixels: [UInt8]

    /// Behind its rows swscale may write what fills up its vectors.
    private static let slack = 64

    /// A transparent picture.
    init(width: Int, height: Int) {
        self.width = width
        self.height = height
        stride = (width * 4 + Raster.slack - 1) / Raster.slack * Raster.slack
        pixels = [UInt8](repeating: 0, count: stride * height + Raster.slack)
    }

    /// Sides whose longer one is `edge` at most, of the same shape; never larger than they were.
    static func fit(_ width: Int, _ height: Int, within edge: Int) -> (width: Int, height: Int) {
        let longest = max(width, height)
        guard longest > edge else { return (width, height) }
        return (max(1, (width * edge + longest / 2) / longest), max(1, (height * edge + longest / 2) / longest))
    }

    /// Codes linear red, green and blue as sRGB does.
    mutating func codeLight() {
        let table = (0..<256).map { number -> UInt8 in
            let light = Double(number) / 255
            let signal = light <= 0.0031308 ? 12.92 * light : 1.055 * pow(light, 1 / 2.4) - 0.055
            return UInt8((signal * 255).rounded())
        }
        for place in pixels.indices where place % 4 != 3 { pixels[place] = table[Int(pixels[place])] }
    }

    /// A decoded frame, scaled to the given sides.
    ///
    /// - Parameter isPhoto: Whether it is a photo's: a grey one says nothing of its range, which is full there.
    init(
        _ frame: UnsafePointer<AVFrame>,
        width: Int,
        height: Int,
        isPhoto: Bool = false
    ) throws(CaptureError) {
        self.init(width: width, height: height)
        let (data, lines) = unsafe (frame.pointee.data, frame.pointee.linesize)
        let source = unsafe ScaledSource(
            width: frame.pointee.width,
            height: frame.pointee.height,
            format: AVPixelFormat(rawValue: frame.pointee.format),
            planes: [UnsafePointer(data.0), UnsafePointer(data.1), UnsafePointer(data.2), UnsafePointer(data.3)],
            strides: [lines.0, lines.1, lines.2, lines.3],
            space: Raster.space(of: frame),
            isFullRange: isPhoto ? Raster.isFullRange(frame) : frame.pointee.color_range == AVCOL_RANGE_JPEG
        )
        try fill(from: source)
    }

    /// Whether black is 0. Grey pictures of photos' formats say nothing of it, and are.
    private static func isFullRange(_ frame: UnsafePointer<AVFrame>) -> Bool {
        let greys = [
            AV_PIX_FMT_GRAY8, AV_PIX_FMT_GRAY16LE, AV_PIX_FMT_GRAY16BE, AV_PIX_FMT_YA8, AV_PIX_FMT_YA16LE,
            AV_PIX_FMT_YA16BE,
        ]
        return switch unsafe frame.pointee.color_range {
        case AVCOL_RANGE_JPEG: true
        case AVCOL_RANGE_UNSPECIFIED: unsafe greys.contains(AVPixelFormat(rawValue: frame.pointee.format))
        default: false
        }
    }

    /// The picture scaled to other sides.
    func scaled(width: Int, height: Int) throws(CaptureError) -> Raster {
        var target = Raster(width: width, height: height)
        try unsafe pixels.withUnsafeBufferPointer { (pixels) throws(CaptureError) in
            try target.fill(
                from: unsafe ScaledSource(
                    width: Int32(self.width),
                    height: Int32(self.height),
                    format: AV_PIX_FMT_RGBA,
                    planes: [pixels.baseAddress, nil, nil, nil],
                    strides: [Int32(stride), 0, 0, 0],
                    space: SWS_CS_DEFAULT,
                    isFullRange: true
                )
            )
        }
        return target
    }

    /// Lets a decoder write the rows.
    mutating func withRows<Result>(_ body: (UnsafeMutablePointer<UInt8>) -> Result) -> Result? {
        unsafe pixels.withUnsafeMutableBufferPointer { pixels in unsafe pixels.baseAddress.map { unsafe body($0) } }
    }

    private mutating func fill(from source: ScaledSource) throws(CaptureError) {
        guard sws_isSupportedInput(source.format) != 0,
            let context = unsafe sws_getContext(
                source.width,
                source.height,
                source.format,
                Int32(width),
                Int32(height),
                AV_PIX_FMT_RGBA,
                SWS_AREA,
                nil,
                nil,
                nil
            )
        else { throw CaptureError(.badData, "the picture's pixels are of a form that is not known here") }
        defer { unsafe sws_freeContext(context) }
        let table = unsafe sws_getCoefficients(source.space)
        // What has no matrix, as red, green and blue, is left as it is.
        unsafe _ = sws_setColorspaceDetails(
            context,
            table,
            source.isFullRange ? 1 : 0,
            table,
            1,
            0,
            1 << 16,
            1 << 16
        )
        let lines: [Int32] = [Int32(stride), 0, 0, 0]
        let done = unsafe pixels.withUnsafeMutableBufferPointer { pixels in
            let targets: [UnsafeMutablePointer<UInt8>?] = unsafe [pixels.baseAddress, nil, nil, nil]
            return unsafe sws_scale(context, source.planes, source.strides, 0, source.height, targets, lines)
        }
        guard done == Int32(height) else {
            throw CaptureError(.internalFault, "the picture could not be scaled to \(width) x \(height)")
        }
    }

    /// The matrix of a frame, as swscale numbers it; large pictures that do not say are taken as those of television.
    private static func space(of frame: UnsafePointer<AVFrame>) -> Int32 {
        let named = unsafe Int32(bitPattern: frame.pointee.colorspace.rawValue)
        guard named == Int32(bitPattern: AVCOL_SPC_UNSPECIFIED.rawValue) else { return named }
        return unsafe frame.pointee.height >= 720 ? SWS_CS_ITU709 : SWS_CS_ITU601
    }
}

/// A picture that swscale reads; valid as long as its memory.
@safe
private struct ScaledSource {
    let width: Int32
    let height: Int32
    let format: AVPixelFormat
    let planes: [UnsafePointer<UInt8>?]
    let strides: [Int32]
    let space: Int32
    let isFullRange: Bool
}
