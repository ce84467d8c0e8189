import CTurboJPEG
import CaptureCore
import MediaConversion

/// Makes JPEG images, by libjpeg-turbo. Thread-bound.
///
/// JPEG means full range and BT.601: luma and chroma of limited range are stretched; those of another matrix come as red,
/// green and blue.
@safe
final class JPEGEncoder {
    private let encoder: tjhandle
    private let layout: PictureLayout
    private let quality: Int32
    private let isFullRange: Bool
    private let sampling: Int32
    private let luma: [UInt8]
    private let chroma: [UInt8]
    private let output: UnsafeMutableRawBufferPointer

    /// An encoder of pictures of `layout`, at a quality of 1 to 100.
    ///
    /// - Parameter sampling: How much chroma the file keeps. Red, green and blue may be stored with less.
    init(
        _ layout: PictureLayout,
        color: ColorMeaning,
        quality: Int,
        sampling: PictureLayout.Samples? = nil
    ) throws(CaptureError) {
        guard let handle = unsafe tjInitCompress() else {
            throw CaptureError(.internalFault, "libjpeg-turbo has no encoder to give")
        }
        unsafe encoder = unsafe handle
        self.layout = layout
        isFullRange = color.isFullRange
        self.sampling = (sampling ?? layout.samples).jpegSampling
        self.quality = Int32(min(max(quality, 1), 100))
        luma = (0..<256).map { UInt8(clamping: (($0 - 16) * 255 + 109) / 219) }
        chroma = (0..<256).map { UInt8(clamping: 128 + Int((Double($0 - 128) * 255 / 224).rounded())) }
        let most = Int(tjBufSize(Int32(layout.width), Int32(layout.height), self.sampling))
        unsafe output = UnsafeMutableRawBufferPointer.allocate(byteCount: max(most, 1), alignment: 64)
    }

    deinit {
        unsafe tjDestroy(encoder)
        unsafe output.deallocate()
    }

    /// How many pixels one sample of chroma stands for, across and down.
    var chromaStep: (across: Int, down: Int) {
        switch sampling {
        case Int32(TJSAMP_420.rawValue): (2, 2)
        case Int32(TJSAMP_422.rawValue): (2, 1)
        default: (1, 1)
        }
    }

    /// Encodes a picture of the encoder's layout, which is stretched in its place.
    ///
    /// - Returns: The image; valid until the next call.
    func encode(_ buffer: MediaBuffer) throws(CaptureError) -> UnsafeRawBufferPointer {
        guard let source = unsafe PicturePlanes(layout, in: buffer.mutableBytes) else {
            throw CaptureError(.internalFault, "a picture is smaller than its format")
        }
        var image = unsafe output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        var size = UInt(unsafe output.count)
        let (width, height) = (Int32(layout.width), Int32(layout.height))
        let flags = Int32(TJFLAG_NOREALLOC)
        let result: Int32
        if layout.samples == .rgb {
            result = unsafe tjCompress2(
                encoder,
                source.y,
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
            if !isFullRange { stretch(source) }
            var addresses: [UnsafePointer<UInt8>?] = unsafe [
                UnsafePointer(source.y), UnsafePointer(source.u), UnsafePointer(source.v),
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

    /// The thumbnail of the picture that was encoded last, still in its buffer; `nil` for one of red, green and blue.
    func thumbnail(of buffer: MediaBuffer) throws(CaptureError) -> [UInt8]? {
        guard layout.samples != .rgb, let source = unsafe PicturePlanes(layout, in: buffer.mutableBytes) else {
            return nil
        }
        return try Thumbnail.of(source, layout)
    }

    /// Brings a picture from 16…235 to 0…255, where it is.
    private func stretch(_ picture: PicturePlanes) {
        unsafe JPEGEncoder.look(up: picture.y, layout.lumaSize, in: luma)
        unsafe JPEGEncoder.look(up: picture.u, layout.chromaSize, in: chroma)
        unsafe JPEGEncoder.look(up: picture.v, layout.chromaSize, in: chroma)
    }

    private static func look(up samples: UnsafeMutablePointer<UInt8>, _ count: Int, in table: [UInt8]) {
        unsafe table.withUnsafeBufferPointer { table in
            guard let table = table.baseAddress else { return }
            for index in 0..<count { unsafe samples[index] = table[Int(samples[index])] }
        }
    }
}
