import CTurboJPEG
import CYUV
import CaptureCore

/// Makes JPEG images of planar pictures, by libjpeg-turbo. Thread-bound.
///
/// JPEG means full range and BT.601; pictures of another range are stretched, those of another matrix go by way of RGB.
@safe
final class JPEGEncoder {
    private let encoder: tjhandle
    private let layout: PictureLayout
    private let quality: Int32
    private let color: ColorMeaning
    private let luma: [UInt8]
    private let chroma: [UInt8]
    private let output: UnsafeMutableRawBufferPointer
    private let scratch: UnsafeMutableRawBufferPointer

    /// An encoder of pictures of `layout`, at a quality of 1 to 100.
    init(_ layout: PictureLayout, color: ColorMeaning, quality: Int) throws(CaptureError) {
        guard let handle = unsafe tjInitCompress() else {
            throw CaptureError(.internalFault, "libjpeg-turbo has no encoder to give")
        }
        unsafe encoder = unsafe handle
        self.layout = layout
        self.color = color
        self.quality = Int32(min(max(quality, 1), 100))
        luma = (0..<256).map { UInt8(clamping: (($0 - 16) * 255 + 109) / 219) }
        chroma = (0..<256).map { UInt8(clamping: 128 + (($0 - 128) * 255) / 224) }
        let sampling = JPEGEncoder.sampling(layout)
        let most = Int(tjBufSize(Int32(layout.width), Int32(layout.height), sampling))
        unsafe output = UnsafeMutableRawBufferPointer.allocate(byteCount: max(most, 1), alignment: 64)
        let needed = color.matrix == .bt601 ? layout.size : layout.width * layout.height * 3
        unsafe scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: needed + 64, alignment: 64)
    }

    deinit {
        unsafe tjDestroy(encoder)
        unsafe output.deallocate()
        unsafe scratch.deallocate()
    }

    /// Encodes a picture of the encoder's layout.
    ///
    /// - Returns: The image; valid until the next call.
    func encode(_ buffer: MediaBuffer) throws(CaptureError) -> UnsafeRawBufferPointer {
        guard let source = unsafe PicturePlanes(layout, in: buffer.mutableBytes) else {
            throw CaptureError(.internalFault, "a picture is smaller than its format")
        }
        var image = unsafe output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        var size = UInt(unsafe output.count)
        let (width, height) = (Int32(layout.width), Int32(layout.height))
        let sampling = JPEGEncoder.sampling(layout)
        let flags = Int32(TJFLAG_NOREALLOC)
        let result: Int32
        if color.matrix != .bt601, let rgb = unsafe scratch.baseAddress?.assumingMemoryBound(to: UInt8.self) {
            unsafe PictureRGB.fill(rgb, stride: layout.width * 3, from: source, layout, color)
            result = unsafe tjCompress2(
                encoder,
                rgb,
                width,
                width * 3,
                height,
                Int32(TJPF_RGB.rawValue),
                &image,
                &size,
                sampling,
                quality,
                flags
            )
        } else {
            let planes = color.isFullRange ? source : stretched(source)
            var addresses: [UnsafePointer<UInt8>?] = unsafe [
                UnsafePointer(planes.y), UnsafePointer(planes.u), UnsafePointer(planes.v),
            ]
            result = unsafe tjCompressFromYUVPlanes(
                encoder,
                &addresses,
                width,
                nil,
                height,
                sampling,
                &image,
                &size,
                quality,
                flags
            )
        }
        guard result == 0 else {
            let words = unsafe tjGetErrorStr2(encoder).map { unsafe String(cString: $0) } ?? ""
            throw CaptureError(.internalFault, "could not make a JPEG image: \(words)")
        }
        return unsafe UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(output)[..<Int(size)])
    }

    /// The picture from 16…235 to 0…255.
    private func stretched(_ source: PicturePlanes) -> PicturePlanes {
        guard let target = unsafe PicturePlanes(layout, in: scratch) else { return source }
        let chromaSize = layout.chromaSize
        for index in 0..<layout.lumaSize { unsafe target.y[index] = luma[Int(source.y[index])] }
        for index in 0..<chromaSize { unsafe target.u[index] = chroma[Int(source.u[index])] }
        for index in 0..<chromaSize { unsafe target.v[index] = chroma[Int(source.v[index])] }
        return target
    }

    private static func sampling(_ layout: PictureLayout) -> Int32 {
        layout.chroma == .yuv420 ? Int32(TJSAMP_420.rawValue) : Int32(TJSAMP_422.rawValue)
    }
}

/// From three planes to red, green and blue, by libyuv.
enum PictureRGB {
    /// Fills `rgb`, red first.
    ///
    /// - Parameter stride: Bytes from row to row.
    static func fill(
        _ rgb: UnsafeMutablePointer<UInt8>,
        stride: Int,
        from planes: PicturePlanes,
        _ layout: PictureLayout,
        _ color: ColorMeaning
    ) {
        let (width, height, half) = (Int32(layout.width), Int32(layout.height), Int32(layout.chromaWidth))
        // Every other row of a 4:2:2 picture's chroma makes it 4:2:0.
        let step = layout.chroma == .yuv420 ? half : half * 2
        let matrix: Int32 =
            switch (color.matrix, color.isFullRange) {
            case (.bt601, false): 0
            case (.bt709, false), (.smpte240, false): 1
            case (.bt709, true), (.smpte240, true): 2
            case (.bt2020, false): 3
            case (.bt2020, true): 4
            case (.bt601, true): 5
            }
        unsafe cyuv_i420_to_rgb(
            planes.y,
            width,
            planes.u,
            planes.v,
            step,
            rgb,
            Int32(stride),
            matrix,
            width,
            height
        )
    }
}
