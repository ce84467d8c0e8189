import CLibAV
import CaptureCore
import MediaConversion
import MediaExamination

/// Encodes sound by libavcodec, after a resampler has brought it to the encoder's rate and sample format. Thread-bound.
///
/// Times of packets count samples of `rate` since the first sample that was fed.
@safe
final class AudioEncoder {
    /// The encoder, as libavcodec names it.
    let name: String
    /// The open encoder; its parameters are the stream's.
    var context: UnsafeMutablePointer<AVCodecContext> { unsafe coder.pointer }
    /// What samples pass on their way into the encoder.
    let resampler: SoundResampler
    private let coder: CodecContext
    private var frame: UnsafeMutablePointer<AVFrame> { unsafe coder.frame }
    private let bytesPerFrame: Int
    private var sent: Int64 = 0

    /// Samples a second of what comes out.
    var rate: Int { unsafe Int(context.pointee.sample_rate) }

    /// Bytes that a second of sound takes in a container, amply.
    var mostBytesPerSecond: Int64 {
        let size = unsafe context.pointee.frame_size
        let packets = Int64(size > 0 ? rate / Int(size) + 1 : 200)
        // Twice the rate that was asked for; FLAC has no rate, and is at worst what came in.
        let isLossy = name == "aac" || name == "libopus"
        let bytes = unsafe isLossy ? context.pointee.bit_rate / 4 : Int64(rate * bytesPerFrame)
        return bytes + packets * 128
    }

    /// Samples of nothing that the encoder puts before the first.
    var padding: Int { unsafe Int(context.pointee.initial_padding) }

    /// Opens the encoder of `codec`, which is `aac`, `opus`, `flac` or `pcm`.
    ///
    /// - Parameter canStretch: Whether the resampler can make sound longer and shorter.
    init(_ codec: String, _ input: AudioFormat, canStretch: Bool = false) throws(CaptureError) {
        let name = AudioEncoder.encoderName(codec, input)
        guard let encoder = unsafe avcodec_find_encoder_by_name(name) else {
            throw CaptureError(
                .invalidArgument,
                "the sound encoder \(name) is not installed here; flac and pcm always are"
            )
        }
        self.name = name
        bytesPerFrame = input.bytesPerFrame
        coder = try unsafe CodecContext(encoder)
        let context = unsafe coder.pointer
        let rate = AudioEncoder.rate(of: codec, input.sampleRate)
        let format = unsafe AudioEncoder.sampleFormat(input, encoder)
        unsafe context.pointee.sample_rate = Int32(rate)
        unsafe context.pointee.sample_fmt = format
        unsafe av_channel_layout_default(&context.pointee.ch_layout, Int32(input.channels))
        unsafe context.pointee.time_base = AVRational(num: 1, den: Int32(rate))
        unsafe context.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER
        unsafe context.pointee.strict_std_compliance = FF_COMPLIANCE_EXPERIMENTAL
        if codec == "aac" || codec == "opus" {
            unsafe context.pointee.bit_rate = Int64(min(input.channels, 8)) * (codec == "aac" ? 80_000 : 64_000)
        }
        if input.sampleFormat == .s24Packed { unsafe context.pointee.bits_per_raw_sample = 24 }
        let opened = unsafe avcodec_open2(context, encoder, nil)
        if opened < 0 {
            throw CaptureError(
                .invalidArgument,
                "\(name) takes no sound of \(input) (\(LibAV.text(of: opened))); use flac, pcm or a wav file"
            )
        }
        resampler = try unsafe SoundResampler(input, for: context, canStretch: canStretch)
    }

    /// Encodes samples in the input's format.
    func encode(_ samples: UnsafeRawBufferPointer) throws(CaptureError) -> [EncodedPacket] {
        try unsafe resampler.take(samples)
        return try takePackets(all: false)
    }

    /// Takes what is still inside; nothing can be encoded afterwards.
    ///
    /// - Parameter samples: How many of `rate` were fed in all.
    func drain(to samples: Int64) throws(CaptureError) -> [EncodedPacket] {
        try resampler.drain(to: samples)
        let packets = try takePackets(all: true)
        try unsafe LibAV.check("end the encoder \(name)", avcodec_send_frame(context, nil))
        return try packets + coder.receive(.audio, "encode sound with \(name)")
    }

    private func takePackets(all: Bool) throws(CaptureError) -> [EncodedPacket] {
        var packets: [EncodedPacket] = []
        while true {
            let waiting = resampler.waiting
            let wanted = unsafe context.pointee.frame_size > 0 ? context.pointee.frame_size : max(waiting, 1)
            guard waiting >= wanted || (all && waiting > 0) else { return packets }
            unsafe av_frame_unref(frame)
            unsafe frame.pointee.nb_samples = min(waiting, wanted)
            unsafe frame.pointee.format = context.pointee.sample_fmt.rawValue
            unsafe frame.pointee.sample_rate = context.pointee.sample_rate
            unsafe av_channel_layout_copy(&frame.pointee.ch_layout, &context.pointee.ch_layout)
            try unsafe LibAV.check("encode sound", av_frame_get_buffer(frame, 0))
            try unsafe resampler.give(frame)
            unsafe frame.pointee.pts = sent
            sent += unsafe Int64(frame.pointee.nb_samples)
            try unsafe LibAV.check("encode sound with \(name)", avcodec_send_frame(context, frame))
            packets += try coder.receive(.audio, "encode sound with \(name)")
        }
    }

    private static func encoderName(_ codec: String, _ input: AudioFormat) -> String {
        switch (codec, input.sampleFormat) {
        case ("opus", _): "libopus"
        case ("pcm", .s16): "pcm_s16le"
        case ("pcm", .s24Packed): "pcm_s24le"
        case ("pcm", .s32): "pcm_s32le"
        case ("pcm", .float32): "pcm_f32le"
        default: codec
        }
    }

    /// Opus knows five rates, AAC those up to 96 kHz of a table; what they do not know goes to 48 kHz.
    private static func rate(of codec: String, _ rate: Int) -> Int {
        switch codec {
        case "opus": [8000, 12000, 16000, 24000, 48000].contains(rate) ? rate : 48000
        case "aac":
            [8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000, 64000, 88200, 96000].contains(rate)
                ? rate : 48000
        default: rate
        }
    }

    /// The encoder's sample format that loses nothing of the input, else its first.
    private static func sampleFormat(_ input: AudioFormat, _ encoder: UnsafePointer<AVCodec>) -> AVSampleFormat {
        var known: [AVSampleFormat] = []
        if var next = unsafe encoder.pointee.sample_fmts {
            while unsafe next.pointee != AV_SAMPLE_FMT_NONE {
                unsafe known.append(next.pointee)
                unsafe next += 1
            }
        }
        let wanted: [AVSampleFormat] =
            switch input.sampleFormat {
            case .s16: [AV_SAMPLE_FMT_S16, AV_SAMPLE_FMT_FLTP]
            case .s24Packed, .s32: [AV_SAMPLE_FMT_S32, AV_SAMPLE_FMT_FLTP, AV_SAMPLE_FMT_FLT]
            case .float32: [AV_SAMPLE_FMT_FLT, AV_SAMPLE_FMT_FLTP, AV_SAMPLE_FMT_S32]
            }
        return wanted.first { known.contains($0) } ?? known.first ?? AV_SAMPLE_FMT_S16
    }
}
