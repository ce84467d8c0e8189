import CLibAV
import CaptureCore
import MediaConversion
import MediaExamination

/// Brings pictures into the memory of a VAAPI encoder. Thread-bound.
///
/// The node is opened here, before the sandbox closes; no V4L2 encoder is looked for, since libavcodec finds those by
/// opening every video node, capture nodes too.
@safe
final class HardwareUpload {
    private let frames: UnsafeMutablePointer<AVBufferRef>
    private let staging: UnsafeMutablePointer<AVFrame>
    private let surface: UnsafeMutablePointer<AVFrame>
    private let scaler: OpaquePointer
    private let layout: PictureLayout

    /// Opens the device and makes its surfaces the encoder's input.
    init(_ layout: PictureLayout, for context: UnsafeMutablePointer<AVCodecContext>) throws(CaptureError) {
        self.layout = layout
        var device: UnsafeMutablePointer<AVBufferRef>?
        try unsafe LibAV.check(
            "open the hardware encoder",
            av_hwdevice_ctx_create(&device, AV_HWDEVICE_TYPE_VAAPI, nil, nil, 0)
        )
        defer { unsafe av_buffer_unref(&device) }
        let frames = try unsafe LibAV.made(av_hwframe_ctx_alloc(device))
        unsafe self.frames = unsafe frames
        unsafe surface = try LibAV.made(av_frame_alloc())
        unsafe staging = try LibAV.made(av_frame_alloc())
        unsafe scaler = try LibAV.made(
            sws_getContext(
                Int32(layout.width),
                Int32(layout.height),
                AV_PIX_FMT_YUV420P,
                Int32(layout.width),
                Int32(layout.height),
                AV_PIX_FMT_NV12,
                Int32(SWS_POINT),
                nil,
                nil,
                nil
            )
        )
        let description = unsafe UnsafeMutableRawPointer(frames.pointee.data)
            .assumingMemoryBound(to: AVHWFramesContext.self)
        unsafe description.pointee.format = AV_PIX_FMT_VAAPI
        unsafe description.pointee.sw_format = AV_PIX_FMT_NV12
        unsafe description.pointee.width = Int32(layout.width)
        unsafe description.pointee.height = Int32(layout.height)
        unsafe description.pointee.initial_pool_size = 8
        try unsafe LibAV.check("make surfaces for the hardware encoder", av_hwframe_ctx_init(frames))
        unsafe staging.pointee.format = AV_PIX_FMT_NV12.rawValue
        unsafe staging.pointee.width = Int32(layout.width)
        unsafe staging.pointee.height = Int32(layout.height)
        try unsafe LibAV.check("make a picture for the hardware encoder", av_frame_get_buffer(staging, 0))
        unsafe context.pointee.pix_fmt = AV_PIX_FMT_VAAPI
        unsafe context.pointee.hw_frames_ctx = try LibAV.made(av_buffer_ref(frames))
    }

    deinit {
        var frames: UnsafeMutablePointer<AVBufferRef>? = unsafe frames
        var staging: UnsafeMutablePointer<AVFrame>? = unsafe staging
        var surface: UnsafeMutablePointer<AVFrame>? = unsafe surface
        unsafe av_frame_free(&staging)
        unsafe av_frame_free(&surface)
        unsafe av_buffer_unref(&frames)
        unsafe sws_freeContext(scaler)
    }

    /// A surface that holds the picture; valid until the next one.
    func send(_ picture: UnsafeMutablePointer<AVFrame>) throws(CaptureError) -> UnsafeMutablePointer<AVFrame> {
        unsafe av_frame_unref(surface)
        try unsafe LibAV.check("get a surface of the hardware encoder", av_hwframe_get_buffer(frames, surface, 0))
        try unsafe LibAV.check("convert a frame", sws_scale_frame(scaler, staging, picture))
        try unsafe LibAV.check("send a frame to the hardware encoder", av_hwframe_transfer_data(surface, staging, 0))
        unsafe av_frame_copy_props(surface, picture)
        return unsafe surface
    }
}
