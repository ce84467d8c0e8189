import CYUV
import CaptureCore

/// Reads the common raw formats by libyuv's vectorized routines. Thread-bound.
@safe
final class VectorReader: PictureReader {
    /// How the bytes lie, of what libyuv knows.
    private enum Kind {
        /// Packed 4:2:2 with luma first, or chroma first; `swapped` has Cr before Cb.
        case packed422(lumaFirst: Bool, swapped: Bool)
        /// Luma plane and interleaved chroma plane.
        case semiplanar(swapped: Bool)
        case planar(swapped: Bool)
        case rgb(RGBOrder)
        case luma
    }

    /// The bytes of a pixel; `x` has no meaning.
    private enum RGBOrder {
        case rgb, bgr, rgbx, bgrx, xrgb, xbgr
    }

    let layout: PictureLayout
    private let kind: Kind
    private let chroma: PictureLayout.Samples
    private let strides: [Int32]
    private let planes: [ColorPlane]

    /// A reader to planes of luma and chroma, `nil` for what libyuv does not do, at this size or at all.
    init?(_ structure: PixelStructure, _ planes: [ColorPlane], _ layout: PictureLayout, _ color: ColorDescription) {
        // It reads whole groups of bytes, and rows of chroma for all rows of the picture.
        let isWhole = zip(planes, structure.planes).allSatisfy { there, ideal in
            there.row >= ideal.row(layout.width) && there.rows >= ideal.rows(layout.height)
        }
        guard isWhole, let kind = VectorReader.kind(of: structure) else { return nil }
        chroma = structure.samples
        switch kind {
        case .packed422, .semiplanar, .planar:
            guard layout.samples == chroma || (chroma == .yuv422 && layout.samples == .yuv420) else { return nil }
            guard chroma != .yuv444 else { return nil }
        case .rgb:
            guard layout.samples == .yuv420, ColorMeaning(color, .rgb).isFullRange else { return nil }
        case .luma: guard layout.samples == .yuv420 else { return nil }
        }
        self.layout = layout
        self.kind = kind
        self.planes = planes
        strides = planes.map { Int32(clamping: $0.stride) }
    }

    private static func kind(of structure: PixelStructure) -> Kind? {
        guard structure.components.allSatisfy({ $0.bytes == 1 && $0.bits == 8 }), !structure.isMIPI else { return nil }
        let first = structure.components[0]
        switch (structure.model, structure.planes.count) {
        case (.luma, _): return .luma
        case (.yuv, 1):
            guard first.step == 2 else { return nil }
            return .packed422(
                lumaFirst: first.offset == 0,
                swapped: structure.components[1].offset > structure.components[2].offset
            )
        case (.yuv, 2): return .semiplanar(swapped: structure.components[1].offset == 1)
        case (.yuv, 3):
            return structure.components[1].across == 2 ? .planar(swapped: structure.components[1].plane == 2) : nil
        case (.rgb, _):
            switch (first.step, structure.components.map(\.offset)) {
            case (3, [0, 1, 2]): return .rgb(.rgb)
            case (3, [2, 1, 0]): return .rgb(.bgr)
            case (4, [0, 1, 2]): return .rgb(.rgbx)
            case (4, [2, 1, 0]): return .rgb(.bgrx)
            case (4, [1, 2, 3]): return .rgb(.xrgb)
            case (4, [3, 2, 1]): return .rgb(.xbgr)
            default: return nil
            }
        default: return nil
        }
    }

    func read(_ source: [UnsafePointer<UInt8>], into target: PicturePlanes) {
        let (width, height) = (Int32(layout.width), Int32(layout.height))
        let half = Int32(layout.chromaWidth)
        let rows = Int32(layout.chromaHeight)
        let stride = strides[0]
        let y = unsafe target.y
        let isHalved = chroma == .yuv422 && layout.samples == .yuv420
        switch kind {
        case .packed422(let lumaFirst, let swapped):
            let (u, v) = unsafe swapped ? (target.v, target.u) : (target.u, target.v)
            switch (lumaFirst, isHalved) {
            case (true, true): unsafe _ = YUY2ToI420(source[0], stride, y, width, u, half, v, half, width, height)
            case (true, false): unsafe _ = YUY2ToI422(source[0], stride, y, width, u, half, v, half, width, height)
            case (false, true): unsafe _ = UYVYToI420(source[0], stride, y, width, u, half, v, half, width, height)
            case (false, false): unsafe _ = UYVYToI422(source[0], stride, y, width, u, half, v, half, width, height)
            }
        case .semiplanar(let swapped):
            let (u, v) = unsafe swapped ? (target.v, target.u) : (target.u, target.v)
            // 4:2:2 to 4:2:0 takes every other row of chroma.
            let step = strides[1] * (isHalved ? 2 : 1)
            unsafe CopyPlane(source[0], stride, y, width, width, height)
            unsafe SplitUVPlane(source[1], step, u, half, v, half, half, rows)
        case .planar(let swapped):
            let (u, v) = unsafe swapped ? (target.v, target.u) : (target.u, target.v)
            unsafe CopyPlane(source[0], stride, y, width, width, height)
            let step = Int32(isHalved ? 2 : 1)
            unsafe CopyPlane(source[1], strides[1] * step, u, half, half, rows)
            unsafe CopyPlane(source[2], strides[2] * step, v, half, half, rows)
        case .rgb(let order):
            let convert =
                switch order {
                case .rgb: unsafe RAWToI420
                case .bgr: unsafe RGB24ToI420
                case .rgbx: unsafe ABGRToI420
                case .bgrx: unsafe ARGBToI420
                case .xrgb: unsafe BGRAToI420
                case .xbgr: unsafe RGBAToI420
                }
            unsafe _ = convert(source[0], stride, y, width, target.u, half, target.v, half, width, height)
        case .luma:
            unsafe _ = I400ToI420(source[0], stride, y, width, target.u, half, target.v, half, width, height)
        }
    }
}
