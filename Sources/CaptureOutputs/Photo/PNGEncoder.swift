import CLibAV
import CaptureCore

/// Makes a PNG image of a planar picture, by libavcodec. Thread-bound.
@safe
final class PNGEncoder {
    private let layout: PictureLayout
    private let color: ColorMeaning
    private let context: UnsafeMutablePointer<AVCodecContext>
    private let frame: UnsafeMutablePointer<AVFrame>

    /// An encoder of pictures of `layout`.
    init(_ layout: PictureLayout, color: ColorMeaning) throws(CaptureError) {
        self.layout = layout
        self.color = color
        guard let codec = unsafe avcodec_find_encoder(AV_CODEC_ID_PNG) else {
            throw CaptureError(.invalidArgument, "no PNG encoder is installed here; use jpeg")
        }
        unsafe context = try LibAV.made(avcodec_alloc_context3(codec))
        unsafe frame = try LibAV.made(av_frame_alloc())
        unsafe context.pointee.width = Int32(layout.width)
        unsafe context.pointee.height = Int32(layout.height)
        unsafe context.pointee.pix_fmt = AV_PIX_FMT_RGB24
        unsafe context.pointee.time_base = AVRational(num: 1, den: 1)
        try unsafe LibAV.check("open the PNG encoder", avcodec_open2(context, codec, nil))
    }

    deinit {
        var context: UnsafeMutablePointer<AVCodecContext>? = unsafe context
        var frame: UnsafeMutablePointer<AVFrame>? = unsafe frame
        unsafe avcodec_free_context(&context)
        unsafe av_frame_free(&frame)
    }

    /// Encodes a picture; once.
    func encode(_ buffer: MediaBuffer) throws(CaptureError) -> EncodedPacket {
        unsafe frame.pointee.width = Int32(layout.width)
        unsafe frame.pointee.height = Int32(layout.height)
        unsafe frame.pointee.format = AV_PIX_FMT_RGB24.rawValue
        // Rows must be tight for the conversion, and are copied when the encoder wants them otherwise.
        try unsafe LibAV.check("make a picture", av_frame_get_buffer(frame, 1))
        guard let planes = unsafe PicturePlanes(layout, in: buffer.mutableBytes), let rgb = unsafe frame.pointee.data.0
        else { throw CaptureError(.internalFault, "a picture is smaller than its format") }
        unsafe PictureRGB.fill(rgb, stride: Int(frame.pointee.linesize.0), from: planes, layout, color)
        try unsafe LibAV.check("encode a PNG image", avcodec_send_frame(context, frame))
        try unsafe LibAV.check("encode a PNG image", avcodec_send_frame(context, nil))
        let packet = try EncodedPacket(.video)
        try unsafe LibAV.check("encode a PNG image", avcodec_receive_packet(context, packet.packet))
        return packet
    }
}
