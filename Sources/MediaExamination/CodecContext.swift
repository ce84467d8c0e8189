package import CLibAV
package import CaptureCore
import MediaConversion

/// An encoder or decoder of libavcodec and a frame for it, which end with this. Thread-bound.
@safe
package final class CodecContext {
    /// To be opened by whoever makes it.
    package let pointer: UnsafeMutablePointer<AVCodecContext>
    /// What goes in, or came out last.
    package let frame: UnsafeMutablePointer<AVFrame>

    /// One of a codec.
    package init(_ codec: UnsafePointer<AVCodec>) throws(CaptureError) {
        unsafe pointer = try LibAV.made(avcodec_alloc_context3(codec))
        unsafe frame = try LibAV.made(av_frame_alloc())
    }

    deinit {
        var pointer: UnsafeMutablePointer<AVCodecContext>? = unsafe pointer
        var frame: UnsafeMutablePointer<AVFrame>? = unsafe frame
        unsafe avcodec_free_context(&pointer)
        unsafe av_frame_free(&frame)
    }
}
