import CALSA
import CaptureCore
import Glibc
import Synchronization

/// A stream that was set up, and what it will deliver.
struct PCMSetup: Sendable {
    let pcm: PCM
    let format: AudioFormat
    /// Sample frames of the ring that hardware and reader share.
    let bufferFrames: Int
    /// Whether alsa-lib converts, because the hardware cannot give what was asked.
    let usesPlug: Bool
    /// Whether the driver stamps by CLOCK_MONOTONIC.
    let isMonotonic: Bool
}

extension SampleFormat {
    /// alsa-lib's number of the format.
    var alsa: snd_pcm_format_t {
        switch self {
        case .s16: SND_PCM_FORMAT_S16_LE
        case .s24Packed: SND_PCM_FORMAT_S24_3LE
        case .s32: SND_PCM_FORMAT_S32_LE
        case .float32: SND_PCM_FORMAT_FLOAT_LE
        }
    }
}

extension PCMSetup {
    /// What is taken where nothing is asked.
    static let preferred = (formats: [SampleFormat.s16, .s32, .s24Packed, .float32], rate: 48_000, channels: 2)

    /// Opens a stream in the format nearest to a request: the hardware's own where it fits, with conversion where the
    /// request is exact, or where the hardware has nothing that is known here.
    ///
    /// - Parameter offered: What the hardware gives, to be named in a refusal.
    /// - Throws: `.noSuchFormat` when not even conversion gives it, or what opening can throw.
    static func open(
        _ address: PCMAddress,
        _ name: String,
        _ request: AudioFormatRequest,
        offered: [AudioFormatOption]
    ) throws(CaptureError) -> PCMSetup {
        do throws(ALSAFailure) {
            do throws(ALSAFailure) {
                if let setup = try configure(address, request) { return setup }
            } catch  where error.errno == EBUSY {
                // Perhaps this process is asking the device what it offers.
                CardProbe.asking.withLock { _ in }
                if let setup = try configure(address, request) { return setup }
            }
        } catch {
            throw CaptureError(error, opening: name, address)
        }
        var wish: [String] = []
        if let format = request.sampleFormat { wish.append(format.rawValue) }
        if let rate = request.sampleRate { wish.append("\(rate) Hz") }
        if let channels = request.channels { wish.append("\(channels) channels") }
        throw CaptureError(
            .noSuchFormat,
            "\(name) does not give \(wish.joined(separator: ", ")); \(words(for: offered))"
        )
    }

    /// As in `it offers S16_LE at 8000 to 48000 Hz with 1 to 2 channels`.
    static func words(for offered: [AudioFormatOption]) -> String {
        func range(_ range: ClosedRange<Int>) -> String {
            range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
        }
        let options = offered.map { option in
            let formats = option.sampleFormats.joined(separator: " or ")
            return "\(formats) at \(range(option.rates)) Hz with \(range(option.channels)) "
                + (option.channels == 1...1 ? "channel" : "channels")
        }
        return options.isEmpty ? "what it offers is not known" : "it offers " + options.joined(separator: ", ")
    }

    private static func configure(_ address: PCMAddress, _ request: AudioFormatRequest) throws(ALSAFailure) -> PCMSetup?
    {
        if let direct = try configure(try PCM(address.hardwareName), request, usesPlug: false) { return direct }
        return try configure(try PCM(address.plugName), request, usesPlug: true)
    }

    /// Chooses hardware parameters; `nil` when this stream cannot give what it must.
    private static func configure(
        _ pcm: PCM,
        _ request: AudioFormatRequest,
        usesPlug: Bool
    ) throws(ALSAFailure) -> PCMSetup? {
        var made: OpaquePointer?
        guard unsafe snd_pcm_hw_params_malloc(&made) >= 0, let params = unsafe made else {
            throw ALSAFailure("set up \(pcm.name)", -ENOMEM)
        }
        defer { unsafe snd_pcm_hw_params_free(params) }
        unsafe try pcm.check("parameters") { unsafe snd_pcm_hw_params_any($0, params) }
        unsafe try pcm.check("resampling") { unsafe snd_pcm_hw_params_set_rate_resample($0, params, usesPlug ? 1 : 0) }
        if unsafe snd_pcm_hw_params_set_access(pcm.handle, params, SND_PCM_ACCESS_MMAP_INTERLEAVED) < 0 { return nil }

        let wanted = request.sampleFormat.map { [$0] } ?? []
        let acceptable = request.isExact && !wanted.isEmpty ? wanted : wanted + preferred.formats
        guard
            let format = acceptable.first(where: {
                unsafe snd_pcm_hw_params_test_format(pcm.handle, params, $0.alsa) == 0
            })
        else { return nil }
        unsafe try pcm.check("format") { unsafe snd_pcm_hw_params_set_format($0, params, format.alsa) }

        var channels = UInt32(clamping: request.channels ?? preferred.channels)
        unsafe try pcm.check("channels") { unsafe snd_pcm_hw_params_set_channels_near($0, params, &channels) }
        if request.isExact, let asked = request.channels, asked != channels { return nil }

        var rate = UInt32(clamping: request.sampleRate ?? preferred.rate)
        unsafe try pcm.check("rate") { unsafe snd_pcm_hw_params_set_rate_near($0, params, &rate, nil) }
        if request.isExact, let asked = request.sampleRate, asked != rate { return nil }

        // Periods of 10 ms keep the delay short, half a second of buffer forgives a machine under load.
        var period = snd_pcm_uframes_t(rate / 100)
        unsafe try pcm.check("period") { unsafe snd_pcm_hw_params_set_period_size_near($0, params, &period, nil) }
        var buffer = max(snd_pcm_uframes_t(rate / 2), period * 4)
        unsafe try pcm.check("buffer") { unsafe snd_pcm_hw_params_set_buffer_size_near($0, params, &buffer) }
        unsafe try pcm.check("parameters") { unsafe snd_pcm_hw_params($0, params) }

        unsafe try pcm.check("period") { _ in unsafe snd_pcm_hw_params_get_period_size(params, &period, nil) }
        unsafe try pcm.check("buffer") { _ in unsafe snd_pcm_hw_params_get_buffer_size(params, &buffer) }
        // The limits are what a ring can hold, and what does not overflow when time is computed.
        guard (1000...10_000_000).contains(rate), (1...1024).contains(channels), (1...1_000_000).contains(period),
            (period * 2...1 << 30).contains(buffer)
        else {
            let words = "\(rate) Hz, \(channels) channels, periods of \(period) in a buffer of \(buffer)"
            throw ALSAFailure("set up \(pcm.name), whose driver reports \(words)", -EPROTO)
        }
        let isMonotonic = try setSoftware(pcm, period: period, buffer: buffer, runsFree: !usesPlug)
        return PCMSetup(
            pcm: pcm,
            format: AudioFormat(
                sampleFormat: format,
                sampleRate: Int(rate),
                channels: Int(channels),
                periodFrames: Int(period)
            ),
            bufferFrames: Int(buffer),
            usesPlug: usesPlug,
            isMonotonic: isMonotonic
        )
    }

    /// Sets when to wake and how to stamp, and reads back whether stamps are monotonic.
    ///
    /// - Parameter runsFree: The hardware goes on when its buffer overruns, so that its own counter says to the sample
    ///   how much was lost. alsa-lib's converters stop instead, and the stamps tell.
    private static func setSoftware(
        _ pcm: PCM,
        period: snd_pcm_uframes_t,
        buffer: snd_pcm_uframes_t,
        runsFree: Bool
    ) throws(ALSAFailure) -> Bool {
        var made: OpaquePointer?
        guard unsafe snd_pcm_sw_params_malloc(&made) >= 0, let params = unsafe made else {
            throw ALSAFailure("set up \(pcm.name)", -ENOMEM)
        }
        defer { unsafe snd_pcm_sw_params_free(params) }
        unsafe try pcm.check("parameters") { unsafe snd_pcm_sw_params_current($0, params) }
        unsafe try pcm.check("wake-up") { unsafe snd_pcm_sw_params_set_avail_min($0, params, period) }
        unsafe try pcm.check("stamps") { unsafe snd_pcm_sw_params_set_tstamp_mode($0, params, SND_PCM_TSTAMP_ENABLE) }
        // Refused by kernels that have one kind of stamp; which one it is, is read back below.
        _ = unsafe snd_pcm_sw_params_set_tstamp_type(pcm.handle, params, SND_PCM_TSTAMP_TYPE_MONOTONIC)
        var boundary: snd_pcm_uframes_t = 0
        unsafe try pcm.check("boundary") { _ in unsafe snd_pcm_sw_params_get_boundary(params, &boundary) }
        unsafe try pcm.check("threshold") {
            unsafe snd_pcm_sw_params_set_stop_threshold($0, params, runsFree ? boundary : buffer)
        }
        unsafe try pcm.check("parameters") { unsafe snd_pcm_sw_params($0, params) }
        var type = SND_PCM_TSTAMP_TYPE_GETTIMEOFDAY
        unsafe try pcm.check("stamps") { _ in unsafe snd_pcm_sw_params_get_tstamp_type(params, &type) }
        return type == SND_PCM_TSTAMP_TYPE_MONOTONIC
    }
}
