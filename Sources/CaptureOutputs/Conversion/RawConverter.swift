import CYUV
import CaptureCore
import CaptureRing

/// From a common raw format to three planes, by libyuv's vectorized routines. Thread-bound.
final class RawConverter: BufferConverter {
    /// What comes out.
    let layout: PictureLayout
    private let pixels: SourcePixels
    private let planes: [ColorPlane]

    /// A converter from `format` to planes of the given chroma.
    init(_ format: VideoFormat, pixels: SourcePixels, to chroma: PictureLayout.Chroma) {
        layout = PictureLayout(width: format.width, height: format.height, chroma: chroma)
        self.pixels = pixels
        planes = pixels.planes(of: format)
    }

    var capacity: Int { layout.size }

    func convert(_ buffer: RingBuffer, into memory: UnsafeMutableRawBufferPointer) -> Int? {
        guard let target = unsafe PicturePlanes(layout, in: memory) else { return nil }
        var sources: [UnsafePointer<UInt8>] = unsafe []
        for plane in planes {
            let bytes = unsafe buffer.plane(plane.memory)
            // A driver that gives less than a frame gives a broken one.
            guard bytes.count >= plane.end, let base = bytes.baseAddress else { return nil }
            unsafe sources.append((base + plane.offset).assumingMemoryBound(to: UInt8.self))
        }
        return unsafe run(sources, target) == 0 ? layout.size : nil
    }

    private func run(_ source: [UnsafePointer<UInt8>], _ target: PicturePlanes) -> Int32 {
        let width = Int32(layout.width)
        let height = Int32(layout.height)
        let half = Int32(layout.chromaWidth)
        let stride = Int32(planes[0].stride)
        let is420 = layout.chroma == .yuv420
        let y = unsafe target.y
        switch pixels {
        case .packed422(let lumaFirst, let swapped):
            let u = swapped ? unsafe target.v : unsafe target.u
            let v = swapped ? unsafe target.u : unsafe target.v
            switch (lumaFirst, is420) {
            case (true, true): return unsafe YUY2ToI420(source[0], stride, y, width, u, half, v, half, width, height)
            case (true, false): return unsafe YUY2ToI422(source[0], stride, y, width, u, half, v, half, width, height)
            case (false, true): return unsafe UYVYToI420(source[0], stride, y, width, u, half, v, half, width, height)
            case (false, false): return unsafe UYVYToI422(source[0], stride, y, width, u, half, v, half, width, height)
            }
        case .semiplanar(let chroma, let swapped):
            let u = swapped ? unsafe target.v : unsafe target.u
            let v = swapped ? unsafe target.u : unsafe target.v
            // 4:2:2 to 4:2:0 takes every other row of chroma.
            let step = Int32(planes[1].stride) * (chroma == .yuv422 && is420 ? 2 : 1)
            unsafe CopyPlane(source[0], stride, y, width, width, height)
            let rows = Int32(layout.chromaHeight)
            unsafe SplitUVPlane(source[1], step, u, half, v, half, half, rows)
            return 0
        case .planar(let chroma, let swapped):
            let u = swapped ? unsafe target.v : unsafe target.u
            let v = swapped ? unsafe target.u : unsafe target.v
            let (stepU, stepV) = (Int32(planes[1].stride), Int32(planes[2].stride))
            if chroma == .yuv422, is420 {
                return unsafe I422ToI420(
                    source[0],
                    stride,
                    source[1],
                    stepU,
                    source[2],
                    stepV,
                    y,
                    width,
                    u,
                    half,
                    v,
                    half,
                    width,
                    height
                )
            }
            let rows = Int32(layout.chromaHeight)
            unsafe CopyPlane(source[0], stride, y, width, width, height)
            unsafe CopyPlane(source[1], stepU, u, half, half, rows)
            unsafe CopyPlane(source[2], stepV, v, half, half, rows)
            return 0
        case .rgb(let redFirst):
            return redFirst
                ? unsafe RAWToI420(source[0], stride, y, width, target.u, half, target.v, half, width, height)
                : unsafe RGB24ToI420(source[0], stride, y, width, target.u, half, target.v, half, width, height)
        case .rgbx(let redFirst):
            return redFirst
                ? unsafe ABGRToI420(source[0], stride, y, width, target.u, half, target.v, half, width, height)
                : unsafe ARGBToI420(source[0], stride, y, width, target.u, half, target.v, half, width, height)
        case .grey:
            return unsafe I400ToI420(source[0], stride, y, width, target.u, half, target.v, half, width, height)
        }
    }
}
