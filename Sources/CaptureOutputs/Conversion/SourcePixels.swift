import CaptureCore

/// How a raw camera format is laid out, for the formats that are converted directly.
enum SourcePixels: Hashable, Sendable {
    /// Packed 4:2:2 with luma first, or chroma first; `swapped` has Cr before Cb.
    case packed422(lumaFirst: Bool, swapped: Bool)
    /// Luma plane and interleaved chroma plane, 4:2:0 or 4:2:2.
    case semiplanar(PictureLayout.Chroma, swapped: Bool)
    /// Three planes, 4:2:0 or 4:2:2.
    case planar(PictureLayout.Chroma, swapped: Bool)
    /// Three bytes a pixel, red or blue first.
    case rgb(redFirst: Bool)
    /// Four bytes a pixel, red or blue first, the fourth without meaning.
    case rgbx(redFirst: Bool)
    /// Luma alone.
    case grey

    /// The layout of a V4L2 format; `nil` for compressed, Bayer and odd ones.
    init?(_ format: PixelFormat) {
        switch format.description {
        case "YUYV": self = .packed422(lumaFirst: true, swapped: false)
        case "YVYU": self = .packed422(lumaFirst: true, swapped: true)
        case "UYVY": self = .packed422(lumaFirst: false, swapped: false)
        case "VYUY": self = .packed422(lumaFirst: false, swapped: true)
        case "NV12", "NM12": self = .semiplanar(.yuv420, swapped: false)
        case "NV21", "NM21": self = .semiplanar(.yuv420, swapped: true)
        case "NV16", "NM16": self = .semiplanar(.yuv422, swapped: false)
        case "NV61", "NM61": self = .semiplanar(.yuv422, swapped: true)
        case "YU12", "YM12": self = .planar(.yuv420, swapped: false)
        case "YV12", "YM21": self = .planar(.yuv420, swapped: true)
        case "422P", "YM16": self = .planar(.yuv422, swapped: false)
        case "YM61": self = .planar(.yuv422, swapped: true)
        case "RGB3": self = .rgb(redFirst: true)
        case "BGR3": self = .rgb(redFirst: false)
        case "XR24", "AR24", "BGR4": self = .rgbx(redFirst: false)
        case "XB24", "AB24": self = .rgbx(redFirst: true)
        case "GREY": self = .grey
        default: return nil
        }
    }

    /// Whether it is red, green and blue.
    var isRGB: Bool {
        switch self {
        case .rgb, .rgbx: true
        default: false
        }
    }

    /// The chroma that keeps what the format holds.
    var chroma: PictureLayout.Chroma {
        switch self {
        case .packed422: .yuv422
        case .semiplanar(let chroma, _), .planar(let chroma, _): chroma
        case .rgb, .rgbx, .grey: .yuv420
        }
    }

    /// Where the colour planes lie: memory plane, bytes from its start, stride, bytes of a row and rows of each.
    func planes(of format: VideoFormat) -> [ColorPlane] {
        let width = format.width
        let height = format.height
        let half = (width + 1) / 2
        func stride(_ plane: Int, _ least: Int) -> Int {
            plane < format.planes.count ? max(format.planes[plane].stride, least) : least
        }
        switch self {
        case .packed422:
            return [ColorPlane(memory: 0, offset: 0, stride: stride(0, half * 4), row: half * 4, rows: height)]
        case .rgb: return [ColorPlane(memory: 0, offset: 0, stride: stride(0, width * 3), row: width * 3, rows: height)]
        case .rgbx:
            return [ColorPlane(memory: 0, offset: 0, stride: stride(0, width * 4), row: width * 4, rows: height)]
        case .grey: return [ColorPlane(memory: 0, offset: 0, stride: stride(0, width), row: width, rows: height)]
        case .semiplanar(let chroma, _):
            let rows = chroma == .yuv420 ? (height + 1) / 2 : height
            let luma = ColorPlane(memory: 0, offset: 0, stride: stride(0, width), row: width, rows: height)
            let isSplit = format.planes.count > 1
            return [
                luma,
                ColorPlane(
                    memory: isSplit ? 1 : 0,
                    offset: isSplit ? 0 : luma.stride * height,
                    stride: isSplit ? stride(1, half * 2) : max(luma.stride, half * 2),
                    row: half * 2,
                    rows: rows
                ),
            ]
        case .planar(let chroma, _):
            let rows = chroma == .yuv420 ? (height + 1) / 2 : height
            let luma = ColorPlane(memory: 0, offset: 0, stride: stride(0, width), row: width, rows: height)
            let isSplit = format.planes.count > 2
            let step = isSplit ? 0 : max((luma.stride + 1) / 2, half)
            return [
                luma,
                ColorPlane(
                    memory: isSplit ? 1 : 0,
                    offset: isSplit ? 0 : luma.stride * height,
                    stride: isSplit ? stride(1, half) : step,
                    row: half,
                    rows: rows
                ),
                ColorPlane(
                    memory: isSplit ? 2 : 0,
                    offset: isSplit ? 0 : luma.stride * height + step * rows,
                    stride: isSplit ? stride(2, half) : step,
                    row: half,
                    rows: rows
                ),
            ]
        }
    }
}

/// Where a colour plane lies in a slot.
struct ColorPlane: Hashable, Sendable {
    /// Which memory plane holds it.
    let memory: Int
    /// Bytes from the start of the memory plane.
    let offset: Int
    /// Bytes from row to row.
    let stride: Int
    /// Bytes of a row that mean something.
    let row: Int
    /// Rows.
    let rows: Int

    /// The last byte that is needed, from the start of the memory plane.
    var end: Int { offset + stride * (rows - 1) + row }
}
