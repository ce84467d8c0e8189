import CLibAV
import CaptureCore
import MediaConversion

/// A decoder of one stream, or of a photo. Thread-bound.
@safe
final class StreamDecoder {
    /// The decoders that files of strangers meet, by libavcodec's names.
    static let known = pictures + sounds

    private static let pictures = [
        "h264", "hevc", "vp8", "vp9", "libdav1d", "av1", "mjpeg", "mpeg1video", "mpeg2video", "mpeg4", "h263", "theora",
        "ffv1", "huffyuv", "ffvhuff", "utvideo", "prores", "dnxhd", "rawvideo", "png", "webp", "tiff", "gif",
    ]
    private static let sounds = [
        "aac", "mp3float", "mp3", "mp2float", "mp2", "opus", "vorbis", "flac", "alac", "ac3", "eac3", "amrnb",
        "pcm_u8", "pcm_s8", "pcm_s16le", "pcm_s16be", "pcm_s24le", "pcm_s24be", "pcm_s32le", "pcm_s32be", "pcm_f32le",
        "pcm_f32be", "pcm_f64le", "pcm_f64be", "pcm_alaw", "pcm_mulaw", "adpcm_ms", "adpcm_ima_wav", "adpcm_ima_qt",
    ]

    /// What was decoded last.
    var frame: UnsafeMutablePointer<AVFrame> { unsafe coder.frame }
    private let coder: CodecContext
    private var context: UnsafeMutablePointer<AVCodecContext> { unsafe coder.pointer }

    /// Opens a decoder.
    ///
    /// - Parameters:
    ///   - codec: What is to be decoded.
    ///   - parameters: What the container says of it.
    ///   - isStrict: Whether what the decoder could conceal is a fault.
    ///   - filling: What the memory of a frame is filled with before it is decoded.
    /// - Throws: `badData` for a codec that is not known here.
    init(
        _ codec: AVCodecID,
        _ parameters: UnsafePointer<AVCodecParameters>? = nil,
        isStrict: Bool,
        filling: UInt8? = nil
    ) throws(CaptureError) {
        let name = StreamDecoder.name(of: codec)
        guard let decoder = unsafe avcodec_find_decoder(codec), let own = unsafe decoder.pointee.name,
            StreamDecoder.known.contains(unsafe String(cString: own))
        else { throw CaptureError(.badData, "it is coded as \(name), which is not decoded here") }
        coder = try unsafe CodecContext(decoder)
        var fault: Int32 = 0
        if let parameters = unsafe parameters { fault = unsafe avcodec_parameters_to_context(context, parameters) }
        // One thread: what a picture takes is to be known.
        unsafe context.pointee.thread_count = 1
        unsafe context.pointee.max_pixels = ExaminedMedia.mostPixels
        if let filling { unsafe cav_fill_frames(context, filling) }
        if isStrict { unsafe context.pointee.err_recognition = AV_EF_CRCCHECK | AV_EF_EXPLODE }
        if fault >= 0 { fault = unsafe avcodec_open2(context, decoder, nil) }
        guard fault >= 0 else {
            throw CaptureError(.badData, "the decoder of \(name) does not take it: \(LibAV.text(of: fault))")
        }
    }

    /// The codec as libavcodec names it.
    static func name(of codec: AVCodecID) -> String {
        unsafe String(cString: avcodec_get_name(codec))
    }

    /// Gives the decoder a packet, or `nil` for the end.
    ///
    /// - Returns: 0, or the library's number for a fault.
    func send(_ packet: EncodedPacket?) -> Int32 {
        unsafe avcodec_send_packet(context, packet.map { unsafe UnsafePointer($0.packet) })
    }

    /// Takes the next frame.
    ///
    /// - Returns: 0, `cav_error_eagain` when it wants another packet, `cav_error_eof` at the end, else a fault.
    func receive() -> Int32 { unsafe avcodec_receive_frame(context, frame) }

    /// Forgets what was sent, before packets of another place.
    func flush() { unsafe avcodec_flush_buffers(context) }

    /// Whether the last row of the last frame is of one value.
    func lastRow(is value: UInt8) -> Bool {
        let (data, line) = unsafe (frame.pointee.data.0, frame.pointee.linesize.0)
        let format = unsafe AVPixelFormat(rawValue: frame.pointee.format)
        let width = unsafe av_image_get_linesize(format, frame.pointee.width, 0)
        guard let data = unsafe data, width > 0 else { return false }
        let start = unsafe data + (Int(frame.pointee.height) - 1) * Int(line)
        return unsafe UnsafeBufferPointer(start: start, count: Int(width)).allSatisfy { $0 == value }
    }

    /// Whether the last frame is what its encoder meant.
    var isIntact: Bool {
        unsafe frame.pointee.decode_error_flags == 0 && frame.pointee.flags & AV_FRAME_FLAG_CORRUPT == 0
    }
}
