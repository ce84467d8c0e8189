import CLibAV
package import CaptureCore

/// From a microphone's samples to the sample format, rate and channels that a program asks for, by libswresample.
/// Thread-bound.
@safe
package final class SoundConverter {
    /// What comes out; its period is the most that one call gives.
    package let format: AudioFormat
    private let input: AudioFormat
    private let resampler: OpaquePointer
    /// Bytes of a converted period at most.
    private static let mostBytes = 64 << 20
    private var widener = SampleWidener()

    /// A converter.
    ///
    /// - Parameters:
    ///   - input: What the microphone delivers.
    ///   - sampleFormat: The wanted one; not 24 bits in three bytes, which libswresample does not make.
    ///   - rate: Sample frames a second.
    ///   - channels: How many; more or fewer than the input has are mixed.
    /// - Throws: `noSuchFormat` for a pair that cannot be converted.
    package init(
        _ input: AudioFormat,
        to sampleFormat: SampleFormat,
        rate: Int,
        channels: Int
    ) throws(CaptureError) {
        try LibAV.load()
        self.input = input
        var (from, to) = unsafe (AVChannelLayout(), AVChannelLayout())
        unsafe av_channel_layout_default(&from, Int32(input.channels))
        unsafe av_channel_layout_default(&to, Int32(channels))
        var made: OpaquePointer?
        let wanted = AudioFormat(sampleFormat: sampleFormat, sampleRate: rate, channels: channels, periodFrames: 0)
        var result = unsafe swr_alloc_set_opts2(
            &made,
            &to,
            sampleFormat.interleaved,
            Int32(rate),
            &from,
            input.sampleFormat.interleaved,
            Int32(input.sampleRate),
            0,
            nil
        )
        // libswresample would make one channel of two louder, and two of one softer.
        if result >= 0, input.channels != channels, min(input.channels, channels) == 1 {
            let shares = [Double](repeating: 1 / Double(input.channels), count: max(input.channels, channels))
            unsafe result = swr_set_matrix(made, shares, Int32(input.channels))
        }
        if result >= 0 { unsafe result = swr_init(made) }
        // What a call gives varies by a few, with what was left inside.
        let most = result < 0 ? 0 : Int(unsafe swr_get_out_samples(made, Int32(clamping: input.periodFrames))) + 64
        let isInRange = (64...SoundConverter.mostBytes / wanted.bytesPerFrame).contains(most)
        guard result >= 0, isInRange, sampleFormat != .s24Packed, let resampler = unsafe made else {
            unsafe swr_free(&made)
            let why = result < 0 ? LibAV.text(of: result) : isInRange ? "nothing makes it" : "a period is too long"
            throw CaptureError(
                .noSuchFormat,
                "sound of \(input) cannot be converted to \(wanted): \(why); ask for another format"
            )
        }
        unsafe self.resampler = unsafe resampler
        format = AudioFormat(sampleFormat: sampleFormat, sampleRate: rate, channels: channels, periodFrames: most)
    }

    deinit {
        var resampler: OpaquePointer? = unsafe resampler
        unsafe swr_free(&resampler)
    }

    /// How much older the next sample frame that comes out is than the next one that goes in, in nanoseconds.
    package var delay: Int64 { unsafe swr_get_delay(resampler, 1_000_000_000) }

    /// Forgets what is inside: what comes next does not follow what came before.
    package func reset() throws(CaptureError) {
        try unsafe LibAV.check("convert \(input)", swr_init(resampler))
    }

    /// Converts a stretch of at most a period.
    ///
    /// - Returns: How many sample frames were written.
    package func convert(
        _ samples: UnsafeRawBufferPointer,
        into memory: UnsafeMutableRawBufferPointer
    ) throws(CaptureError) -> Int {
        let frames = Int32(clamping: samples.count / input.bytesPerFrame)
        let room = Int32(clamping: memory.count / format.bytesPerFrame)
        let resampler = unsafe resampler
        let count = try unsafe widener.wide(samples, of: input.sampleFormat) { (bytes) throws(CaptureError) in
            var source: UnsafePointer<UInt8>? = unsafe bytes?.assumingMemoryBound(to: UInt8.self)
            var target: UnsafeMutablePointer<UInt8>? = unsafe memory.baseAddress?.assumingMemoryBound(to: UInt8.self)
            return unsafe swr_convert(resampler, &target, room, &source, frames)
        }
        return Int(try LibAV.check("convert sound", count))
    }
}
