import CLibAV
import CaptureCore
import MediaConversion
import MediaExamination

/// Makes a PNG image of a picture of red, green and blue, or of 16 bits of grey, by libavcodec. Thread-bound.
@safe
final class PNGEncoder {
    /// `nil` for grey.
    private let picture: (layout: PictureLayout, color: ColorMeaning)?
    private let kind: AVPixelFormat
    private let coder: CodecContext
    private var context: UnsafeMutablePointer<AVCodecContext> { unsafe coder.pointer }
    private var frame: UnsafeMutablePointer<AVFrame> { unsafe coder.frame }

    /// An encoder of pictures of `layout`, whose colours are told in the image.
    convenience init(_ layout: PictureLayout, color: ColorMeaning) throws(CaptureError) {
        try self.init(layout.width, layout.height, AV_PIX_FMT_RGB24, (layout, color))
    }

    /// An encoder of grey numbers of 16 bits, the highest byte first.
    convenience init(grey width: Int, _ height: Int) throws(CaptureError) {
        try self.init(width, height, AV_PIX_FMT_GRAY16BE, nil)
    }

    private init(
        _ width: Int,
        _ height: Int,
        _ kind: AVPixelFormat,
        _ picture: (layout: PictureLayout, color: ColorMeaning)?
    ) throws(CaptureError) {
        self.kind = kind
        self.picture = picture
        guard let codec = unsafe avcodec_find_encoder(AV_CODEC_ID_PNG) else {
            throw CaptureError(.invalidArgument, "no PNG encoder is installed; use jpeg")
        }
        coder = try unsafe CodecContext(codec)
        unsafe context.pointee.width = Int32(width)
        unsafe context.pointee.height = Int32(height)
        unsafe context.pointee.pix_fmt = kind
        unsafe context.pointee.time_base = AVRational(num: 1, den: 1)
        // Written into pHYs always, where 0:0 would be no pixel at all.
        unsafe context.pointee.sample_aspect_ratio = AVRational(num: 1, den: 1)
        try unsafe LibAV.check("open the PNG encoder", avcodec_open2(context, codec, nil))
    }

    /// What the numbers mean, by the codes of ITU-T H.273, as the chunk `cICP` of PNG's third edition has it; `nil` where
    /// nobody knows.
    var colorCodes: [UInt8]? {
        guard let color = picture?.color else { return nil }
        let (primaries, transfer) = (color.primaries, color.transferCharacteristic)
        guard primaries != AVCOL_PRI_UNSPECIFIED, transfer != AVCOL_TRC_UNSPECIFIED else { return nil }
        return [UInt8(primaries.rawValue), UInt8(transfer.rawValue), 0, 1]
    }

    /// Encodes a picture.
    func encode(_ buffer: MediaBuffer) throws(CaptureError) -> EncodedPacket {
        guard let (layout, color) = picture, layout.samples == .rgb,
            let planes = unsafe PicturePlanes(layout, in: buffer.mutableBytes)
        else {
            throw CaptureError(.internalFault, "a picture for PNG is not made of red, green and blue")
        }
        unsafe frame.pointee.color_primaries = color.primaries
        unsafe frame.pointee.color_trc = color.transferCharacteristic
        unsafe frame.pointee.buf.0 = try LibAV.lend(buffer)
        defer { unsafe av_frame_unref(frame) }
        return try unsafe encode(planes.y, row: layout.row)
    }

    /// Encodes grey numbers without gaps.
    func encode(grey numbers: inout [UInt8]) throws(CaptureError) -> EncodedPacket {
        let row = unsafe Int(context.pointee.width) * 2
        guard picture == nil, unsafe numbers.count == row * Int(context.pointee.height) else {
            throw CaptureError(.internalFault, "a picture for PNG is not made of grey")
        }
        return try unsafe numbers.withUnsafeMutableBufferPointer { (memory) throws(CaptureError) in
            try unsafe encode(memory.baseAddress, row: row)
        }
    }

    private func encode(_ pixels: UnsafeMutablePointer<UInt8>?, row: Int) throws(CaptureError) -> EncodedPacket {
        unsafe frame.pointee.width = context.pointee.width
        unsafe frame.pointee.height = context.pointee.height
        unsafe frame.pointee.format = kind.rawValue
        unsafe frame.pointee.data.0 = unsafe pixels
        unsafe frame.pointee.linesize.0 = Int32(row)
        try unsafe LibAV.check("encode a PNG image", avcodec_send_frame(context, frame))
        let packet = try EncodedPacket(.video)
        try unsafe LibAV.check("encode a PNG image", avcodec_receive_packet(context, packet.packet))
        return packet
    }
}
