import CLibAV
import CaptureCore
import MediaConversion
import MediaExamination

/// Makes a PNG image of a picture of red, green and blue, by libavcodec. Thread-bound.
@safe
final class PNGEncoder {
    private let layout: PictureLayout
    private let color: ColorMeaning
    private let context: UnsafeMutablePointer<AVCodecContext>
    private let frame: UnsafeMutablePointer<AVFrame>

    /// An encoder of pictures of `layout`, whose colours are told in the image.
    init(_ layout: PictureLayout, color: ColorMeaning) throws(CaptureError) {
        self.layout = layout
        self.color = color
        guard let codec = unsafe avcodec_find_encoder(AV_CODEC_ID_PNG) else {
            throw CaptureError(.invalidArgument, "no PNG encoder is installed; use jpeg")
        }
        unsafe context = try LibAV.made(avcodec_alloc_context3(codec))
        unsafe frame = try LibAV.made(av_frame_alloc())
        unsafe context.pointee.width = Int32(layout.width)
        unsafe context.pointee.height = Int32(layout.height)
        unsafe context.pointee.pix_fmt = AV_PIX_FMT_RGB24
        unsafe context.pointee.time_base = AVRational(num: 1, den: 1)
        // Written into pHYs always, where 0:0 would be no pixel at all.
        unsafe context.pointee.sample_aspect_ratio = AVRational(num: 1, den: 1)
        try unsafe LibAV.check("open the PNG encoder", avcodec_open2(context, codec, nil))
    }

    deinit {
        var context: UnsafeMutablePointer<AVCodecContext>? = unsafe context
        var frame: UnsafeMutablePointer<AVFrame>? = unsafe frame
        unsafe avcodec_free_context(&context)
        unsafe av_frame_free(&frame)
    }

    /// What the numbers mean, by the codes of ITU-T H.273, as the chunk `cICP` of PNG's third edition has it; `nil` where
    /// nobody knows.
    var colorCodes: [UInt8]? {
        let (primaries, transfer) = (color.primaries, color.transferCharacteristic)
        guard primaries != AVCOL_PRI_UNSPECIFIED, transfer != AVCOL_TRC_UNSPECIFIED else { return nil }
        return [UInt8(primaries.rawValue), UInt8(transfer.rawValue), 0, 1]
    }

    /// Encodes a picture.
    func encode(_ buffer: MediaBuffer) throws(CaptureError) -> EncodedPacket {
        unsafe frame.pointee.width = Int32(layout.width)
        unsafe frame.pointee.height = Int32(layout.height)
        unsafe frame.pointee.format = AV_PIX_FMT_RGB24.rawValue
        unsafe frame.pointee.color_primaries = color.primaries
        unsafe frame.pointee.color_trc = color.transferCharacteristic
        unsafe frame.pointee.buf.0 = try LibAV.lend(buffer)
        defer { unsafe av_frame_unref(frame) }
        guard layout.samples == .rgb, let planes = unsafe PicturePlanes(layout, in: buffer.mutableBytes) else {
            throw CaptureError(.internalFault, "a picture for PNG is not made of red, green and blue")
        }
        unsafe frame.pointee.data.0 = planes.y
        unsafe frame.pointee.linesize.0 = Int32(layout.row)
        try unsafe LibAV.check("encode a PNG image", avcodec_send_frame(context, frame))
        let packet = try EncodedPacket(.video)
        try unsafe LibAV.check("encode a PNG image", avcodec_receive_packet(context, packet.packet))
        return packet
    }
}
