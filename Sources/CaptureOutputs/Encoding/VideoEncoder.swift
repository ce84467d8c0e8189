import CLibAV
import CLinux
import CaptureCore
import CaptureSystem
import Glibc
import MediaConversion
import MediaExamination

/// What pictures are encoded with.
struct VideoEncoderRequest {
    /// What comes in.
    var layout: PictureLayout
    /// What its numbers mean.
    var color: ColorMeaning
    /// The camera's nominal interval.
    var interval: FrameInterval
    /// Bits a second; 0 for constant quality.
    var bitRate: Int
    /// 1 to 100, where no bit rate is given.
    var quality = 90
    /// x264's preset; `nil` for what this machine is fast enough for.
    var preset: String?
    /// Whether pictures are made of two fields.
    var fields: FieldOrder = .progressive
    /// Whether hardware is left out. A sandboxed process cannot open it again for another encoder.
    var isSoftware = false
}

/// Encodes pictures as H.264 by libavcodec. Thread-bound.
///
/// Where frames come often enough libx264 looks ahead by some of them and makes B-frames, which halves a file: what goes in
/// comes out as many frames later, not in the order of its times. Times are microseconds.
@safe
final class VideoEncoder {
    /// The encoder, as libavcodec names it.
    let name: String
    /// The open encoder; its parameters are the stream's.
    var context: UnsafeMutablePointer<AVCodecContext> { unsafe coder.pointer }
    /// On how many threads it works.
    var threads: Int { unsafe Int(context.pointee.thread_count) }
    /// The preset that it works with; empty for one that has none.
    let preset: String
    /// By how many frames packets are out of order.
    var reordering: Int { unsafe Int(context.pointee.has_b_frames) }
    private let coder: CodecContext
    private var frame: UnsafeMutablePointer<AVFrame> { unsafe coder.frame }
    private let upload: HardwareUpload?
    /// What it was opened with.
    let request: VideoEncoderRequest
    private var layout: PictureLayout { request.layout }
    private var fields: FieldOrder { request.fields }

    /// The best encoder that works here: hardware first, then libx264, then others.
    ///
    /// - Returns: `nil` when no H.264 encoder is installed.
    /// - Throws: `invalidArgument` when one is, and refuses such pictures.
    static func best(_ request: VideoEncoderRequest) throws(CaptureError) -> VideoEncoder? {
        var refused: String?
        for candidate in ["h264_vaapi", "h264_nvenc", "libx264", "libopenh264"] {
            guard isWorthTrying(candidate), !request.isSoftware || candidate.hasPrefix("lib") else { continue }
            var fitting = request
            if let speed = speed(of: candidate, request) {
                if fitting.preset == nil { fitting.preset = preset(at: speed, for: request) }
                // The trial encoder may have used more memory than the final one ever will.
                clinux_trim_memory()
                // The file begins with an encoder like new, which finds the code of the tried one warm.
                if let fresh = try? VideoEncoder(candidate, fitting) { return fresh }
            }
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
        preset = name == "libx264" ? request.preset ?? VideoEncoder.usualPreset : ""
        self.request = request
        coder = try unsafe CodecContext(codec)
        let context = unsafe coder.pointer
        unsafe VideoEncoder.describe(request, context)
        if name == "libx264" { unsafe context.pointee.max_b_frames = VideoEncoder.ahead(request) >= 6 ? 2 : 0 }
        upload = try unsafe name == "h264_vaapi" ? HardwareUpload(request.layout, for: context) : nil
        var options: OpaquePointer?
        defer { unsafe av_dict_free(&options) }
        for (key, value) in VideoEncoder.options(of: name, request) { unsafe av_dict_set(&options, key, value, 0) }
        try unsafe LibAV.check("open the encoder \(name)", avcodec_open2(context, codec, &options))
    }

    /// Encodes a picture.
    ///
    /// - Parameters:
    ///   - buffer: A picture of the requested layout.
    ///   - time: Microseconds; rises from frame to frame.
    ///   - isKey: Makes it a picture from which decoding can begin.
    /// - Returns: The encoded frame that came out: this one, or an earlier one.
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
        unsafe frame.pointee.interlaced_frame = fields == .progressive ? 0 : 1
        unsafe frame.pointee.top_field_first = fields == .topFirst ? 1 : 0
        return try unsafe send(frame, at: time, isKey: isKey)
    }

    /// Takes what is still inside; nothing can be encoded afterwards.
    func drain() throws(CaptureError) -> [EncodedPacket] {
        try unsafe LibAV.check("end the encoder \(name)", avcodec_send_frame(context, nil))
        return try coder.receive(.video, "encode a frame with \(name)")
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
        return try coder.receive(.video, "encode a frame with \(name)")
    }

    /// Frames a second that an encoder does with its usual preset, `nil` for one that does not work for real: some open and
    /// fail with their first picture. The second picture is another kind, made of the first.
    private static func speed(of name: String, _ request: VideoEncoderRequest) -> Double? {
        guard let encoder = try? VideoEncoder(name, request),
            let pool = try? BufferPool(count: 4, capacity: request.layout.size)
        else { return nil }
        var taken: Int64 = 0
        var made = 0
        for index in 0..<3 {
            guard let memory = pool.take() else { return nil }
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
            let begun = Timestamp.now
            guard let packets = try? encoder.encode(picture, at: Int64(index) * 100_000, isKey: index == 0) else {
                return nil
            }
            taken += Timestamp.now - begun
            made += packets.count
        }
        let begun = Timestamp.now
        guard let rest = try? encoder.drain(), made + rest.count > 0 else { return nil }
        taken += Timestamp.now - begun
        return 3 / max(Double(taken) / 1e9, 1e-6)
    }

    /// The slowest of x264's presets that leaves room for pictures that are harder than the tried ones, and for what else
    /// the machine does.
    private static func preset(at speed: Double, for request: VideoEncoderRequest) -> String {
        let rate = request.interval.framesPerSecond > 0 ? request.interval.framesPerSecond : 30
        // Measured: superfast does 1.5 times as much as veryfast, ultrafast 2 times and more.
        switch speed / rate {
        case 2.5...: return "veryfast"
        case 1.5...: return "superfast"
        default: return "ultrafast"
        }
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
        switch request.fields {
        case .progressive: unsafe context.pointee.field_order = AV_FIELD_PROGRESSIVE
        case .topFirst: unsafe context.pointee.field_order = AV_FIELD_TT
        case .bottomFirst: unsafe context.pointee.field_order = AV_FIELD_BB
        }
        // Fields have whole blocks of their own; pictures that have none are coded as if they were of one moment.
        if request.fields != .progressive, request.layout.height % 4 == 0 {
            unsafe context.pointee.flags |= AV_CODEC_FLAG_INTERLACED_DCT
        }
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

    /// What encoders are tried with, and what they are given where the machine is fast enough.
    private static let usualPreset = "veryfast"

    /// Frames that the encoder sees beyond the one it makes. What it holds is lost in a crash: no more than a quarter of a
    /// second, and no more than makes files smaller.
    private static func ahead(_ request: VideoEncoderRequest) -> Int32 {
        let rate = request.interval.framesPerSecond
        return min(Int32((rate > 0 ? rate : 30) / 4), 10)
    }

    private static func options(of name: String, _ request: VideoEncoderRequest) -> [(String, String)] {
        switch name {
        case "libx264":
            let quality: [(String, String)] =
                request.bitRate > 0 ? [] : [("crf", "\(49.6 - 0.3 * Double(request.quality))")]
            // Of the first frame it would be told too late.
            let fields = request.fields == .bottomFirst ? ":bff=1" : ""
            return [
                ("preset", request.preset ?? VideoEncoder.usualPreset), ("forced-idr", "1"),
                // Keyframes are asked for; a flat picture that changes would be one each time.
                ("rc-lookahead", "\(ahead(request))"), ("sc_threshold", "0"),
                // Times do not decide how good a picture is: it would take one more frame to know how long one lasts.
                ("x264-params", "force-cfr=1" + fields),
            ] + quality
        case "h264_nvenc": return [("forced-idr", "1"), ("delay", "0"), ("zerolatency", "1")]
        case "h264_vaapi": return request.bitRate > 0 ? [] : [("qp", "23"), ("rc_mode", "CQP")]
        default: return []
        }
    }
}
