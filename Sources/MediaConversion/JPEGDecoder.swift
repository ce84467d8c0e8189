import CTurboJPEG
import CYUV
package import CaptureCore
package import CaptureRing

/// From a camera's JPEG frames to a picture, by libjpeg-turbo. Thread-bound.
///
/// Frames without Huffman tables are decoded with the standard ones. A frame that is broken is left out.
@safe
package final class JPEGDecoder: BufferConverter {
    /// What comes out.
    package let layout: PictureLayout
    private let decoder: tjhandle
    private let scratch: UnsafeMutableRawBufferPointer

    /// A copy of the image. libjpeg-turbo reads the header twice, and a ring's memory may change in between: planes that are
    /// large enough for the first header could be too small for the second.
    private var image = unsafe UnsafeMutableRawBufferPointer(start: nil, count: 0)

    /// Pixels of each image.
    private let (width, height): (Int32, Int32)

    /// A decoder to pictures of `layout`, which is as large as the format or smaller by a row or a column.
    package init(_ format: VideoFormat, to layout: PictureLayout) throws(CaptureError) {
        self.layout = layout
        (width, height) = (Int32(format.width), Int32(format.height))
        guard let handle = unsafe tjInitDecompress() else {
            throw CaptureError(.internalFault, "libjpeg-turbo has no decoder to give")
        }
        unsafe decoder = unsafe handle
        // The largest is 4:4:4 in planes whose sides are padded to whole blocks.
        let size = (format.width + 32) * (format.height + 32) * 3
        unsafe scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 64)
    }

    deinit {
        unsafe tjDestroy(decoder)
        unsafe scratch.deallocate()
        unsafe image.deallocate()
    }

    package var capacity: Int { layout.size }

    package func convert(_ buffer: RingBuffer, into memory: UnsafeMutableRawBufferPointer) -> Int? {
        unsafe decode(buffer.plane(0), into: memory)
    }

    /// Decodes one image. If its memory changes meanwhile, the picture is wrong, and nothing else is harmed.
    ///
    /// - Returns: Bytes of the picture, or `nil` when the image is broken or of another size.
    package func decode(_ image: UnsafeRawBufferPointer, into memory: UnsafeMutableRawBufferPointer) -> Int? {
        guard let target = unsafe PicturePlanes(layout, in: memory), let source = unsafe keep(image),
            let base = unsafe scratch.baseAddress?.assumingMemoryBound(to: UInt8.self)
        else { return nil }
        let length = UInt(image.count)
        var (width, height, sampling, colors) = (Int32(0), Int32(0), Int32(0), Int32(0))
        let hasHeader = unsafe tjDecompressHeader3(decoder, source, length, &width, &height, &sampling, &colors) == 0
        guard hasHeader || isOnlyWarned, width == self.width, height == self.height
        else { return nil }
        let isSame = Int(width) == layout.width && Int(height) == layout.height
        if isSame, layout.samples == .rgb {
            let format = Int32(TJPF_RGB.rawValue)
            let done = unsafe tjDecompress2(decoder, source, length, target.y, width, 0, height, format, 0) == 0
            return done || isOnlyWarned ? layout.size : nil
        }
        // At odd sizes its planes are larger than the picture's.
        let isEven = width % 2 == 0 && height % 2 == 0
        if isSame, isEven, sampling == layout.samples.jpegSampling {
            var planes: [UnsafeMutablePointer<UInt8>?] = unsafe [target.y, target.u, target.v]
            let isWhole = unsafe tjDecompressToYUVPlanes(decoder, source, length, &planes, width, nil, height, 0) == 0
            return isWhole || isOnlyWarned ? layout.size : nil
        }
        // libjpeg-turbo gives each image's own sampling; libyuv brings it to the one that is wanted.
        let lumaWidth = Int(tjPlaneWidth(0, width, sampling))
        let lumaSize = lumaWidth * Int(tjPlaneHeight(0, height, sampling))
        let isGrey = sampling == Int32(TJSAMP_GRAY.rawValue)
        let chromaWidth = isGrey ? 0 : Int(tjPlaneWidth(1, width, sampling))
        let chromaSize = isGrey ? 0 : chromaWidth * Int(tjPlaneHeight(1, height, sampling))
        guard unsafe lumaSize + 2 * chromaSize <= scratch.count else { return nil }
        let y = unsafe base
        let u = unsafe base + lumaSize
        let v = unsafe u + chromaSize
        var planes: [UnsafeMutablePointer<UInt8>?] = unsafe [y, u, v]
        let isWhole = unsafe tjDecompressToYUVPlanes(decoder, source, length, &planes, width, nil, height, 0) == 0
        guard isWhole || isOnlyWarned else { return nil }
        let chroma = unsafe (
            rows: isGrey ? 0 : Int(tjPlaneHeight(1, height, sampling)), width: chromaWidth, u: u, v: v
        )
        let (across, down) = (Int32(layout.width), Int32(layout.height))
        unsafe CopyPlane(y, Int32(lumaWidth), target.y, across, across, down)
        unsafe resample(chroma, target)
        return layout.size
    }

    /// An image at an eighth of its size, the least that reads every byte of it.
    ///
    /// - Returns: `nil` when the image is broken or of another size.
    package func eighth(of image: UnsafeRawBufferPointer) -> SmallPicture? {
        guard let source = unsafe keep(image),
            let target = unsafe scratch.baseAddress?.assumingMemoryBound(to: UInt8.self)
        else { return nil }
        let length = UInt(image.count)
        var (width, height, sampling, colors) = (Int32(0), Int32(0), Int32(0), Int32(0))
        let hasHeader = unsafe tjDecompressHeader3(decoder, source, length, &width, &height, &sampling, &colors) == 0
        guard hasHeader || isOnlyWarned, width == self.width, height == self.height
        else { return nil }
        let (across, down) = ((width + 7) / 8, (height + 7) / 8)
        let format = Int32(TJPF_RGB.rawValue)
        let done = unsafe tjDecompress2(decoder, source, length, target, across, 0, down, format, 0) == 0
        guard done || isOnlyWarned else { return nil }
        let pixels = unsafe UnsafeRawBufferPointer(rebasing: scratch[..<(Int(across) * Int(down) * 3)])
        return unsafe SmallPicture(pixels: Array(pixels), width: Int(across), height: Int(down))
    }

    /// Copies an image to memory that nobody else writes to; `nil` for none.
    private func keep(_ other: UnsafeRawBufferPointer) -> UnsafePointer<UInt8>? {
        if unsafe image.count < other.count {
            unsafe image.deallocate()
            // The next ones are seldom much larger.
            unsafe image = UnsafeMutableRawBufferPointer.allocate(byteCount: other.count * 3 / 2, alignment: 64)
        }
        unsafe image.copyMemory(from: other)
        return unsafe other.isEmpty ? nil : UnsafePointer(image.baseAddress?.assumingMemoryBound(to: UInt8.self))
    }

    private func resample(
        _ chroma: (rows: Int, width: Int, u: UnsafeMutablePointer<UInt8>, v: UnsafeMutablePointer<UInt8>),
        _ target: PicturePlanes
    ) {
        let (width, height) = (Int32(layout.chromaWidth), Int32(layout.chromaHeight))
        if unsafe chroma.rows == 0 {
            unsafe SetPlane(target.u, width, width, height, 128)
            unsafe SetPlane(target.v, width, width, height, 128)
            return
        }
        let to = (layout.chromaWidth, layout.chromaHeight)
        unsafe VideoConverter.scale((chroma.u, chroma.width, chroma.rows), (target.u, to.0, to.1))
        unsafe VideoConverter.scale((chroma.v, chroma.width, chroma.rows), (target.v, to.0, to.1))
    }

    /// The most bytes that a camera has too many before a marker. More of them are what is left where data is damaged.
    private static let mostFill = 16

    /// Whether the image is decoded and only odd.
    private var isOnlyWarned: Bool {
        switch unsafe JPEGWarning(decoder) {
        case .header: true
        case .fill(let bytes): bytes <= JPEGDecoder.mostFill
        case .damage, nil: false
        }
    }
}

extension PictureLayout.Samples {
    /// In the words of libjpeg-turbo; for red, green and blue, what keeps all of it.
    package var jpegSampling: Int32 {
        switch self {
        case .yuv420: Int32(TJSAMP_420.rawValue)
        case .yuv422: Int32(TJSAMP_422.rawValue)
        case .yuv444, .rgb: Int32(TJSAMP_444.rawValue)
        }
    }
}
