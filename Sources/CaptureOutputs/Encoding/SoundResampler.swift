import CLibAV
import CaptureCore
import MediaConversion
import MediaExamination

/// Brings sound to an encoder's rate and sample format by libswresample, and keeps it until the encoder takes it; with a
/// clock to follow, makes it a little longer or shorter. Thread-bound. In the steady state it allocates nothing.
@safe
final class SoundResampler {
    /// Sample frames over which a stretch is told to libswresample, which counts in whole ones.
    private static let distance: Int32 = 100_000_000
    /// The largest sample that an encoder is given, in units of full scale. Far larger ones end it with an error.
    private static let loudest: Float = 64

    /// By which part sound is made longer; negative for shorter. Only of one that was made to stretch.
    private(set) var stretch = 0.0

    private let input: AudioFormat
    private let rate: Int
    private let format: AVSampleFormat
    private let resampler: OpaquePointer
    private let queue: OpaquePointer
    private let staging: UnsafeMutablePointer<AVFrame>
    private var room: Int32 = 0
    private var isEmpty = true
    private var made: Int64 = 0
    private var end: (samples: Int64, time: Int64)?
    private var widener = SampleWidener()
    private let takesAnything: Bool
    private var cleaned: [Float] = []

    /// From `input` to what the encoder takes.
    ///
    /// - Parameter canStretch: Without, sound of the encoder's rate passes as it is.
    init(
        _ input: AudioFormat,
        for encoder: UnsafeMutablePointer<AVCodecContext>,
        canStretch: Bool
    ) throws(CaptureError) {
        self.input = input
        // PCM keeps every number as it is.
        takesAnything = unsafe encoder.pointee.codec_id == AV_CODEC_ID_PCM_F32LE || input.sampleFormat != .float32
        rate = unsafe Int(encoder.pointee.sample_rate)
        unsafe format = encoder.pointee.sample_fmt
        unsafe staging = try LibAV.made(av_frame_alloc())
        var resampler: OpaquePointer?
        try unsafe LibAV.check(
            "convert \(input)",
            swr_alloc_set_opts2(
                &resampler,
                &encoder.pointee.ch_layout,
                format,
                Int32(rate),
                &encoder.pointee.ch_layout,
                input.sampleFormat.interleaved,
                Int32(input.sampleRate),
                0,
                nil
            )
        )
        unsafe self.resampler = try LibAV.made(resampler)
        unsafe queue = try LibAV.made(av_audio_fifo_alloc(format, Int32(input.channels), Int32(rate)))
        if canStretch {
            let object = unsafe UnsafeMutableRawPointer(self.resampler)
            // Resamples even at equal rates, from any place between two samples.
            for (key, value) in [
                ("flags", Int64(SWR_FLAG_RESAMPLE)), ("exact_rational", 0), ("linear_interp", 1),
            ] { try unsafe LibAV.check("resample \(input)", av_opt_set_int(object, key, value, 0)) }
        }
        try unsafe LibAV.check("convert \(input)", swr_init(self.resampler))
    }

    deinit {
        var staging: UnsafeMutablePointer<AVFrame>? = unsafe staging
        var resampler: OpaquePointer? = unsafe resampler
        unsafe av_frame_free(&staging)
        unsafe swr_free(&resampler)
        unsafe av_audio_fifo_free(queue)
    }

    /// How long everything that was taken lasts in the output, in nanoseconds, to the fraction of a sample.
    var laid: Int64 {
        if isEmpty { return 0 }
        if let end { return end.time }
        let (seconds, rest) = made.quotientAndRemainder(dividingBy: Int64(rate))
        return unsafe seconds * 1_000_000_000 + rest * 1_000_000_000 / Int64(rate)
            + swr_get_delay(resampler, 1_000_000_000)
    }

    /// Makes what comes next longer by a part, or shorter.
    func stretch(by part: Double) throws(CaptureError) {
        stretch = part
        let samples = Int32(clamping: Int64((part * Double(SoundResampler.distance)).rounded()))
        try unsafe LibAV.check("resample sound", swr_set_compensation(resampler, samples, SoundResampler.distance))
    }

    /// Sample frames that wait for the encoder.
    var waiting: Int32 { unsafe av_audio_fifo_size(queue) }

    /// Takes samples in the input's format.
    func take(_ samples: UnsafeRawBufferPointer) throws(CaptureError) {
        let frames = samples.count / input.bytesPerFrame
        guard frames > 0 else { return }
        isEmpty = false
        if !takesAnything, try unsafe clean(samples, frames) { return }
        try unsafe widener.wide(samples, of: input.sampleFormat) { (bytes) throws(CaptureError) in
            try unsafe convert(bytes, frames)
        }
    }

    /// Takes samples of which some are not a number or far too large: those become silence, these are clipped.
    ///
    /// - Returns: Whether there were such samples. Without them it takes nothing.
    private func clean(_ samples: UnsafeRawBufferPointer, _ frames: Int) throws(CaptureError) -> Bool {
        let loudest = SoundResampler.loudest
        let numbers = unsafe samples.bindMemory(to: Float.self)
        if unsafe numbers.allSatisfy({ abs($0) <= loudest }) { return false }
        cleaned.removeAll(keepingCapacity: true)
        for index in 0..<numbers.count {
            let number = unsafe numbers[index]
            cleaned.append(number.isNaN ? 0 : min(max(number, -loudest), loudest))
        }
        try unsafe cleaned.withUnsafeBufferPointer { (numbers) throws(CaptureError) in
            try unsafe convert(UnsafeRawPointer(numbers.baseAddress), frames)
        }
        return true
    }

    /// Gives out what is still inside, up to so many sample frames in all; nothing can be taken afterwards.
    func drain(to samples: Int64) throws(CaptureError) {
        end = (samples, laid)
        try unsafe convert(nil, 0)
    }

    /// Moves waiting sample frames into a frame that has room for them.
    func give(_ frame: UnsafeMutablePointer<AVFrame>) throws(CaptureError) {
        let planes = unsafe UnsafeMutableRawPointer(frame.pointee.extended_data)
            .assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
        try unsafe LibAV.check("encode sound", av_audio_fifo_read(queue, planes, frame.pointee.nb_samples))
    }

    /// Resamples into the queue; `nil` for what the resampler still holds.
    private func convert(_ samples: UnsafeRawPointer?, _ frames: Int) throws(CaptureError) {
        let most = unsafe swr_get_out_samples(resampler, Int32(clamping: frames))
        guard most > 0 else { return }
        try reserve(most)
        var source: UnsafePointer<UInt8>? = unsafe samples?.assumingMemoryBound(to: UInt8.self)
        let count = unsafe withUnsafeMutablePointer(to: &source) { source in
            unsafe swr_convert(
                resampler,
                staging.pointee.extended_data,
                most,
                samples == nil ? nil : source,
                Int32(clamping: frames)
            )
        }
        try LibAV.check("convert sound", count)
        let kept = Int32(clamping: min(Int64(count), max((end?.samples ?? .max) - made, 0)))
        made += Int64(count)
        guard kept > 0 else { return }
        let planes = unsafe UnsafeMutableRawPointer(staging.pointee.extended_data)
            .assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
        try unsafe LibAV.check("queue sound", av_audio_fifo_write(queue, planes, kept))
    }

    /// Makes room for so many sample frames, if there is less room now.
    private func reserve(_ frames: Int32) throws(CaptureError) {
        guard frames > room else { return }
        // Twice as many, so that a slightly longer period makes none again.
        let (twice, overflows) = frames.multipliedReportingOverflow(by: 2)
        room = overflows ? frames : twice
        unsafe av_frame_unref(staging)
        unsafe staging.pointee.nb_samples = room
        unsafe staging.pointee.format = format.rawValue
        unsafe av_channel_layout_default(&staging.pointee.ch_layout, Int32(input.channels))
        try unsafe LibAV.check("convert sound", av_frame_get_buffer(staging, 0))
    }
}
