import CYUV
package import CaptureCore
package import CaptureRing

/// From a camera's frames to a pixel format and a size that a program asks for, by libyuv. Thread-bound. Makes its
/// buffers once.
@safe
package final class VideoConverter: BufferConverter {
    /// What comes out.
    package let format: VideoFormat
    private let kind: Kind
    private let reader: any BufferConverter
    /// What the reader makes, as large as a frame of the camera.
    private let held: PictureLayout
    /// The same samples, as large as what comes out.
    private let sized: PictureLayout
    private let matrix: UnsafePointer<YuvConstants>
    private let picture: UnsafeMutableRawBufferPointer
    private let smaller: UnsafeMutableRawBufferPointer
    private let pixels: UnsafeMutableRawBufferPointer
    private let sizedPixels: UnsafeMutableRawBufferPointer

    /// How the bytes lie in what comes out.
    private enum Kind {
        case planar
        /// A plane of luma and one of chroma; `swapped` has Cr before Cb.
        case semiplanar(swapped: Bool)
        case packed422(lumaFirst: Bool)
        case luma
        case rgb(Order)

        /// The bytes of a pixel.
        enum Order { case bgra, rgba, argb, abgr, rgb, bgr }
    }

    private static let kinds: [(names: String, kind: Kind)] = [
        ("NV12", .semiplanar(swapped: false)), ("NV21", .semiplanar(swapped: true)), ("YU12", .planar),
        ("YUYV", .packed422(lumaFirst: true)), ("UYVY", .packed422(lumaFirst: false)), ("GREY", .luma),
        ("AR24 XR24", .rgb(.bgra)), ("AB24 XB24", .rgb(.rgba)), ("BA24 BX24", .rgb(.argb)),
        ("RA24 RX24", .rgb(.abgr)), ("RGB3", .rgb(.rgb)), ("BGR3", .rgb(.bgr)),
    ]

    private static let targets: [(format: PixelFormat, kind: Kind)] = kinds.flatMap { names, kind in
        names.split(separator: " ").compactMap { name in PixelFormat(name: name).map { ($0, kind) } }
    }

    /// What frames can be converted to.
    package static let pixelFormats: [PixelFormat] = targets.map(\.format)

    /// Whether a camera's frames already have what conversion to their own pixel format gives: red, green and blue that
    /// are opaque and of the full range.
    package static func isPlain(_ source: VideoFormat) -> Bool {
        guard let model = PixelStructure(source.pixelFormat)?.model, model == .rgb else { return true }
        let hasAlpha = ["AR24", "AB24", "BA24", "RA24"].contains(source.pixelFormat.description)
        return !hasAlpha && ColorMeaning(source.color, model).isFullRange
    }

    /// A converter.
    ///
    /// - Parameters:
    ///   - source: What the camera delivers.
    ///   - pixelFormat: One of `pixelFormats`.
    ///   - width: Pixels in a row of what comes out; even where pixels share chroma.
    ///   - height: Its rows; even where rows share chroma.
    /// - Throws: `noSuchFormat` for a pair that cannot be converted.
    package init(
        _ source: VideoFormat,
        to pixelFormat: PixelFormat,
        width: Int,
        height: Int
    ) throws(CaptureError) {
        guard let kind = VideoConverter.targets.first(where: { $0.format == pixelFormat })?.kind else {
            throw CaptureError(
                .noSuchFormat,
                "frames cannot be converted to \(pixelFormat); choose one of "
                    + VideoConverter.pixelFormats.map(\.description).joined(separator: ", ")
            )
        }
        guard max(source.width, source.height) <= PictureLayout.mostSide,
            source.planes.allSatisfy({ $0.stride <= PictureLayout.mostStride })
        else {
            throw CaptureError(
                .noSuchFormat,
                "the camera delivers \(source), which is too large to be converted; choose a format of at most "
                    + "\(PictureLayout.mostSide) pixels a side"
            )
        }
        self.kind = kind
        let color: ColorMeaning
        (reader, held, color) = try VideoConverter.reader(source, kind, pixelFormat)
        sized = PictureLayout(width: width, height: height, samples: held.samples)
        let isFull: Int32 = color.isFullRange ? 1 : 0
        unsafe matrix =
            switch color.matrix {
            case .bt709: unsafe cyuv_bt709(isFull)
            case .bt2020: unsafe cyuv_bt2020(isFull)
            default: unsafe cyuv_bt601(isFull)
            }
        let isSame = held == sized
        let (isRGB, isPlain) =
            switch kind {
            case .rgb(let order): (true, order == .bgra)
            default: (false, false)
            }
        func memory(_ isNeeded: Bool, _ size: Int) -> UnsafeMutableRawBufferPointer {
            // Vectors may read and write past a row's end.
            .allocate(byteCount: isNeeded ? size + 64 : 0, alignment: 64)
        }
        unsafe picture = memory(true, held.size)
        unsafe smaller = memory(!isSame && held.samples != .rgb, sized.size)
        unsafe pixels = memory(isRGB && held.samples == .rgb, held.width * held.height * 4)
        unsafe sizedPixels = memory(isRGB && !isPlain, width * height * 4)
        format = VideoConverter.format(source, pixelFormat, (width, height), isRGB ? color.asRGB : color)
    }

    deinit {
        unsafe picture.deallocate()
        unsafe smaller.deallocate()
        unsafe pixels.deallocate()
        unsafe sizedPixels.deallocate()
    }

    /// What reads the camera's frames, the picture that it makes, and what that one's numbers mean.
    private static func reader(
        _ source: VideoFormat,
        _ kind: Kind,
        _ pixelFormat: PixelFormat
    ) throws(CaptureError) -> (any BufferConverter, PictureLayout, ColorMeaning) {
        func layout(_ samples: PictureLayout.Samples) -> PictureLayout {
            PictureLayout(width: source.width, height: source.height, samples: samples)
        }
        if let structure = PixelStructure(source.pixelFormat) {
            let color = ColorMeaning(source.color, structure.model)
            let isMixedElsewhere = [.bt2020Constant, .smpte240].contains(color.matrix) || color.needsRecoloring
            let samples: PictureLayout.Samples =
                switch kind {
                case .rgb: isMixedElsewhere ? .rgb : structure.samples
                case .packed422: .yuv422
                default: .yuv420
                }
            let reader = try RawConverter(source, structure, to: layout(samples))
            return (reader, reader.layout, reader.color)
        }
        guard [.mjpeg, .jpeg].contains(source.pixelFormat) else {
            throw CaptureError(
                .noSuchFormat,
                "the camera delivers \(source.pixelFormat), which cannot be converted to \(pixelFormat) here; choose "
                    + "another format of the camera, or ask for no pixel format and size"
            )
        }
        let samples: PictureLayout.Samples =
            switch kind {
            case .rgb, .packed422: .yuv422
            default: .yuv420
            }
        return (try JPEGDecoder(source, to: layout(samples)), layout(samples), .jpeg)
    }

    private static func format(
        _ source: VideoFormat,
        _ pixelFormat: PixelFormat,
        _ size: (width: Int, height: Int),
        _ color: ColorMeaning
    ) -> VideoFormat {
        let planes = PixelStructure(pixelFormat)?.planes ?? []
        let bytes = planes.reduce(0) { $0 + $1.row(size.width) * $1.rows(size.height) }
        return VideoFormat(
            pixelFormat: pixelFormat,
            width: size.width,
            height: size.height,
            interval: source.interval,
            planes: [PlaneLayout(offset: 0, stride: planes.first?.row(size.width) ?? 0, size: bytes)],
            color: color.description,
            fields: size.height == source.height ? source.fields : .progressive
        )
    }

    package var capacity: Int { format.frameSize }

    package func convert(_ buffer: RingBuffer, into memory: UnsafeMutableRawBufferPointer) -> Int? {
        guard memory.count >= capacity,
            let target = unsafe memory.baseAddress?.assumingMemoryBound(to: UInt8.self),
            unsafe reader.convert(buffer, into: picture) != nil,
            let here = unsafe PicturePlanes(held, in: picture)
        else { return nil }
        let isDone =
            switch kind {
            case .rgb(let order): unsafe makePixels(here, target, order)
            default: unsafe makePlanes(here, target, memory)
            }
        return isDone ? capacity : nil
    }

    /// Luma and chroma.
    private func makePlanes(
        _ here: PicturePlanes,
        _ target: UnsafeMutablePointer<UInt8>,
        _ memory: UnsafeMutableRawBufferPointer
    ) -> Bool {
        let (width, height) = (Int32(sized.width), Int32(sized.height))
        if case .luma = kind {
            unsafe VideoConverter.scale((here.y, held.width, held.height), (target, sized.width, sized.height))
            return true
        }
        if case .planar = kind {
            guard let there = unsafe PicturePlanes(sized, in: memory) else { return false }
            scale(here, there)
            return true
        }
        guard let from = inSize(here) else { return false }
        let half = Int32(sized.chromaWidth)
        let chroma = unsafe target + sized.lumaSize
        switch kind {
        case .semiplanar(let swapped):
            let (u, v) = unsafe swapped ? (from.v, from.u) : (from.u, from.v)
            return unsafe I420ToNV12(
                from.y,
                width,
                u,
                half,
                v,
                half,
                target,
                width,
                chroma,
                2 * half,
                width,
                height
            ) == 0
        default:
            let pack = if case .packed422(lumaFirst: true) = kind { unsafe I422ToYUY2 } else { unsafe I422ToUYVY }
            return unsafe pack(
                from.y,
                width,
                from.u,
                half,
                from.v,
                half,
                target,
                2 * width,
                width,
                height
            ) == 0
        }
    }

    /// Red, green and blue. libyuv's names have the highest byte first: its ARGB begins with blue.
    private func makePixels(_ here: PicturePlanes, _ target: UnsafeMutablePointer<UInt8>, _ order: Kind.Order) -> Bool {
        let (width, height) = (Int32(sized.width), Int32(sized.height))
        let isPlain = order == .bgra
        guard let there = unsafe isPlain ? target : sizedPixels.baseAddress?.assumingMemoryBound(to: UInt8.self)
        else { return false }
        guard unsafe mix(here, there) == 0 else { return false }
        if isPlain { return true }
        let convert =
            switch order {
            case .rgba: unsafe ARGBToABGR
            case .argb: unsafe ARGBToBGRA
            case .abgr: unsafe ARGBToRGBA
            case .rgb: unsafe ARGBToRAW
            default: unsafe ARGBToRGB24
            }
        let row = Int32(format.planes[0].stride)
        return unsafe convert(there, width * 4, target, row, width, height) == 0
    }

    private func mix(_ here: PicturePlanes, _ target: UnsafeMutablePointer<UInt8>) -> Int32 {
        let (width, height) = (Int32(sized.width), Int32(sized.height))
        if held.samples == .rgb {
            let (across, down) = (Int32(held.width), Int32(held.height))
            if held == sized { return unsafe RAWToARGB(here.y, across * 3, target, width * 4, width, height) }
            guard let between = unsafe pixels.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return -1 }
            unsafe _ = RAWToARGB(here.y, across * 3, between, across * 4, across, down)
            let result = unsafe ARGBScale(
                between,
                across * 4,
                across,
                down,
                target,
                width * 4,
                width,
                height,
                kFilterBox
            )
            // Scaled, opaque becomes nearly so.
            for index in 0..<sized.width * sized.height { unsafe target[4 * index + 3] = 255 }
            return result
        }
        guard let from = inSize(here) else { return -1 }
        let convert =
            switch held.samples {
            case .yuv420: unsafe I420ToARGBMatrix
            case .yuv422: unsafe I422ToARGBMatrix
            default: unsafe I444ToARGBMatrix
            }
        let chroma = Int32(sized.chromaWidth)
        return unsafe convert(
            from.y,
            width,
            from.u,
            chroma,
            from.v,
            chroma,
            target,
            width * 4,
            matrix,
            width,
            height
        )
    }

    /// The picture in the size of what comes out.
    private func inSize(_ here: PicturePlanes) -> PicturePlanes? {
        if held == sized { return here }
        guard let there = unsafe PicturePlanes(sized, in: smaller) else { return nil }
        scale(here, there)
        return there
    }

    private func scale(_ here: PicturePlanes, _ there: PicturePlanes) {
        let (from, to) = ((held.chromaWidth, held.chromaHeight), (sized.chromaWidth, sized.chromaHeight))
        unsafe VideoConverter.scale((here.y, held.width, held.height), (there.y, sized.width, sized.height))
        unsafe VideoConverter.scale((here.u, from.0, from.1), (there.u, to.0, to.1))
        unsafe VideoConverter.scale((here.v, from.0, from.1), (there.v, to.0, to.1))
    }

    typealias Samples = (bytes: UnsafeMutablePointer<UInt8>, width: Int, height: Int)

    /// Scales one plane, or copies it.
    static func scale(_ from: Samples, _ to: Samples) {
        let (width, height) = unsafe (Int32(from.width), Int32(from.height))
        let (across, down) = unsafe (Int32(to.width), Int32(to.height))
        unsafe ScalePlane(from.bytes, width, width, height, to.bytes, across, across, down, kFilterBox)
    }
}
