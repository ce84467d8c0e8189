import CLibAV
import CaptureCore
import CaptureSystem
import Glibc

/// What pictures are encoded with.
struct VideoEncoderRequest {
    /// What comes in.
    var layout: PictureLayout
    /// What its numbers mean.
    var color: ColorMeaning
    /// The camera's nominal interval.
    var interval: FrameInterval
    /// Bits a second; 0 for the encoder's own constant quality.
    var bitRate: Int
}

/// Encodes pictures as H.264 by libavcodec. Thread-bound.
///
/// Every frame that goes in comes out at once: no lookahead, no B-frames. Times are microseconds.
@safe
final class VideoEncoder {
    /// The encoder, as libavcodec names it.
    let name: String
    /// The open encoder; its parameters are the stream's.
    let context: UnsafeMutablePointer<AVCodecContext>
    /// On how many threads it works.
    var threads: Int { unsafe Int(context.pointee.thread_count) }
    private let frame: UnsafeMutablePointer<AVFrame>
    private let upload: HardwareUpload?
    private let layout: PictureLayout

    /// The best encoder that works here: hardware first, then libx264, then others.
    ///
    /// - Returns: `nil` when no H.264 encoder is installed.
    /// - Throws: `invalidArgument` when one is, and refuses such pictures.
    static func best(_ request: VideoEncoderRequest) throws(CaptureError) -> VideoEncoder? {
        var refused: String?
        for candidate in ["h264_vaapi", "h264_nvenc", "libx264", "libopenh264"] {
            guard isWorthTrying(candidate) else { continue }
            // The file begins with an encoder like new, which finds the memory and the code of the tried one warm.
            if works(candidate, request), let fresh = try? VideoEncoder(candidate, request) { return fresh }
            // Hardware may be absent where its encoder is compiled in; the others need nothing else.
            if candidate.hasPrefix("lib") { refused = candidate }
        }
        guard let refused else { return nil }
        throw CaptureError(
            .invalidArgument,
            "\(refused) does not encode \(request.layout.width)x\(request.layout.height) at \(request.bitRate) bits a second"
        )
    }

    /// Opens the encoder of a name.
    init(_ name: String, _ request: VideoEncoderRequest) throws(CaptureError) {
        guard let codec = unsafe avcodec_find_encoder_by_name(name) else {
            throw CaptureError(.internalFault, "the encoder \(name) is not installed")
        }
        self.name = name
        layout = request.layout
        let context = try unsafe LibAV.made(avcodec_alloc_context3(codec))
        let frame = unsafe av_frame_alloc()
        var isKept = false
        defer {
            if !isKept {
                var context: UnsafeMutablePointer<AVCodecContext>? = unsafe context
                var frame = unsafe frame
                unsafe avcodec_free_context(&context)
                unsafe av_frame_free(&frame)
            }
        }
        unsafe VideoEncoder.describe(request, context)
        upload = try unsafe name == "h264_vaapi" ? HardwareUpload(request.layout, for: context) : nil
        var options: OpaquePointer?
        defer { unsafe av_dict_free(&options) }
        for (key, value) in VideoEncoder.options(of: name, request) { unsafe av_dict_set(&options, key, value, 0) }
        try unsafe LibAV.check("open the encoder \(name)", avcodec_open2(context, codec, &options))
        unsafe self.frame = try LibAV.made(unsafe frame)
        unsafe self.context = unsafe context
        isKept = true
    }

    deinit {
        var context: UnsafeMutablePointer<AVCodecContext>? = unsafe context
        var frame: UnsafeMutablePointer<AVFrame>? = unsafe frame
        unsafe avcodec_free_context(&context)
        unsafe av_frame_free(&frame)
    }

    /// Encodes a picture.
    ///
    /// - Parameters:
    ///   - buffer: A picture of the requested layout.
    ///   - time: Microseconds; rises from frame to frame.
    ///   - isKey: Makes it a picture from which decoding can begin.
    /// - Returns: What came out, which is that frame.
    func encode(_ buffer: MediaBuffer, at time: Int64, isKey: Bool) throws(CaptureError) -> [EncodedPacket] {
        unsafe av_frame_unref(frame)
        unsafe frame.pointee.buf.0 = try LibAV.lend(buffer)
        guard let planes = unsafe PicturePlanes(layout, in: buffer.mutableBytes) else {
            throw CaptureError(.internalFault, "a picture is smaller than its format")
        }
        unsafe frame.pointee.data.0 = planes.y
        unsafe frame.pointee.data.1 = planes.u
        unsafe frame.pointee.data.2 = planes.v
        unsafe frame.pointee.linesize.0 = Int32(layout.width)
        unsafe frame.pointee.linesize.1 = Int32(layout.chromaWidth)
        unsafe frame.pointee.linesize.2 = Int32(layout.chromaWidth)
        unsafe frame.pointee.width = Int32(layout.width)
        unsafe frame.pointee.height = Int32(layout.height)
        unsafe frame.pointee.format = AV_PIX_FMT_YUV420P.rawValue
        unsafe frame.pointee.color_range = context.pointee.color_range
        unsafe frame.pointee.colorspace = context.pointee.colorspace
        return try unsafe send(frame, at: time, isKey: isKey)
    }

    /// Takes what is still inside; nothing can be encoded afterwards.
    func drain() throws(CaptureError) -> [EncodedPacket] {
        try unsafe LibAV.check("end the encoder \(name)", avcodec_send_frame(context, nil))
        return try receive()
    }

    private func send(
        _ picture: UnsafeMutablePointer<AVFrame>,
        at time: Int64,
        isKey: Bool
    ) throws(CaptureError) -> [EncodedPacket] {
        let frame = try unsafe upload?.send(picture) ?? picture
        unsafe frame.pointee.pts = time
        unsafe frame.pointee.pict_type = isKey ? AV_PICTURE_TYPE_I : AV_PICTURE_TYPE_NONE
        try unsafe LibAV.check("encode a frame with \(name)", avcodec_send_frame(context, frame))
        unsafe av_frame_unref(frame)
        return try receive()
    }

    private func receive() throws(CaptureError) -> [EncodedPacket] {
        var packets: [EncodedPacket] = []
        while true {
            let encoded = try EncodedPacket(.video)
            let result = unsafe avcodec_receive_packet(context, encoded.packet)
            if result == cav_error_eagain || result == cav_error_eof { return packets }
            try LibAV.check("encode a frame with \(name)", result)
            packets.append(encoded)
        }
    }

    /// Whether an encoder works for real: some open and fail with their first picture. The second picture is another
    /// kind, made of the first.
    private static func works(_ name: String, _ request: VideoEncoderRequest) -> Bool {
        guard let encoder = try? VideoEncoder(name, request),
            let pool = try? BufferPool(count: 3, capacity: request.layout.size)
        else { return false }
        var made = 0
        for index in 0..<3 {
            guard let memory = pool.take() else { return false }
            // A pattern that moves, so that there is something to encode.
            for place in unsafe memory.bytes.indices {
                unsafe memory.bytes[place] = UInt8(truncatingIfNeeded: place / 5 + index)
            }
            let info = BufferInfo(
                timestamp: Timestamp(nanoseconds: 0),
                deviceSequence: UInt64(index),
                bytesUsed: (0, 0, 0, 0),
                flags: .keyframe
            )
            let picture = MediaBuffer(memory, of: pool, count: request.layout.size, info: info)
            guard let packets = try? encoder.encode(picture, at: Int64(index) * 100_000, isKey: index == 0) else {
                return false
            }
            made += packets.count
        }
        guard let rest = try? encoder.drain() else { return false }
        return made + rest.count > 0
    }

    private static func isWorthTrying(_ name: String) -> Bool {
        switch name {
        // Loading a driver's libraries takes long; without its node there is nothing to load it for.
        case "h264_vaapi": unsafe access("/dev/dri/renderD128", R_OK | W_OK) == 0
        case "h264_nvenc": unsafe access("/dev/nvidia0", R_OK | W_OK) == 0
        default: unsafe avcodec_find_encoder_by_name(name) != nil
        }
    }

    private static func describe(_ request: VideoEncoderRequest, _ context: UnsafeMutablePointer<AVCodecContext>) {
        unsafe context.pointee.width = Int32(request.layout.width)
        unsafe context.pointee.height = Int32(request.layout.height)
        unsafe context.pointee.pix_fmt = AV_PIX_FMT_YUV420P
        unsafe context.pointee.time_base = AVRational(num: 1, den: 1_000_000)
        if request.interval.numerator > 0 {
            unsafe context.pointee.framerate = AVRational(
                num: Int32(clamping: request.interval.denominator),
                den: Int32(clamping: request.interval.numerator)
            )
        } else {
            unsafe context.pointee.framerate = AVRational(num: 30, den: 1)
        }
        // Keyframes are asked for by time; this only bounds what a forgetful encoder can do.
        unsafe context.pointee.gop_size = 600
        unsafe context.pointee.max_b_frames = 0
        unsafe context.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER
        unsafe context.pointee.color_range = request.color.range
        unsafe context.pointee.colorspace = request.color.space
        unsafe context.pointee.color_primaries = request.color.primaries
        unsafe context.pointee.color_trc = request.color.transferCharacteristic
        // Slices, since frames in parallel would come out late: left unsaid, one processor has it all to do.
        unsafe context.pointee.thread_type = FF_THREAD_SLICE
        unsafe context.pointee.thread_count = Int32(VideoEncoder.threads(for: request))
        if request.bitRate > 0 {
            unsafe context.pointee.bit_rate = Int64(request.bitRate)
            unsafe context.pointee.rc_max_rate = Int64(request.bitRate)
            unsafe context.pointee.rc_buffer_size = Int32(clamping: request.bitRate)
        }
    }

    private static var processors: Int { max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 1) }

    /// Pixels a second.
    private static func rate(of request: VideoEncoderRequest) -> Double {
        Double(request.layout.lumaSize) * max(request.interval.framesPerSecond, 1)
    }

    /// As many as a small board would need; each more makes the file larger.
    private static func threads(for request: VideoEncoderRequest) -> Int {
        max(min(Int(rate(of: request) / 6_000_000) + 1, processors, 8), 1)
    }

    private static func options(of name: String, _ request: VideoEncoderRequest) -> [(String, String)] {
        switch name {
        case "libx264":
            // Measured on 2.5 GHz server processors: superfast does 100 million pixels a second and processor,
            // ultrafast 120. A small board does a sixth of that, and a recording must not fall behind.
            let preset = rate(of: request) / Double(processors) > 12_000_000 ? "ultrafast" : "superfast"
            let quality: [(String, String)] = request.bitRate > 0 ? [] : [("crf", "23")]
            return [("preset", preset), ("tune", "zerolatency"), ("forced-idr", "1")] + quality
        case "h264_nvenc": return [("forced-idr", "1"), ("delay", "0"), ("zerolatency", "1")]
        case "h264_vaapi": return request.bitRate > 0 ? [] : [("qp", "23"), ("rc_mode", "CQP")]
        default: return []
        }
    }
}
