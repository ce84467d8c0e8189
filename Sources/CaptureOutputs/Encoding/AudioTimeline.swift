import CaptureCore
import MediaConversion

/// Lays sound at its place: what is missing between two buffers becomes silence of the exact length, what lies before
/// the file's start or behind its end is cut, and the clock of the sound is compared with the monotonic one.
///
/// With a resampler, sound also stays with the pictures: the samples of a clock that is off are made as many as belong
/// into the time they were taken in. Thread-bound.
final class AudioTimeline {
    /// A stretch that is to be encoded.
    @safe
    enum Piece {
        /// Samples as they came.
        case samples(UnsafeRawBufferPointer)
        /// Sample frames of nothing.
        case silence(Int)
    }

    /// The part by which a gap may differ from its count, whose first half the device may have counted by another clock.
    private static let doubt = 0.002

    /// When the first sample frame was captured.
    private(set) var start: Timestamp?
    /// Sample frames after which nothing more is given out.
    var limit: Int64 = .max
    private let format: AudioFormat
    private let counters: RecorderCounters
    private let resampler: SoundResampler?
    private var taken: Int64 = 0
    private var origin: Int64 = 0
    private var skip: Int64 = 0
    private var clock: SoundClock
    private var correction = SoundCorrection()

    /// A timeline of sound of `format`; silence and drift are counted in `counters`.
    ///
    /// - Parameter resampler: Stretches all samples that go out; `nil` to leave them as they are.
    init(_ format: AudioFormat, _ counters: RecorderCounters, stretching resampler: SoundResampler? = nil) {
        self.format = format
        self.counters = counters
        self.resampler = resampler
        clock = SoundClock(rate: format.sampleRate)
    }

    /// Sample frames given out, as many as they are when they are stretched.
    var frames: Int64 { min(resampler.map { frameCount(of: $0.laid) } ?? taken, limit) }

    /// Up to when sound was given out; `nil` before the first.
    var end: Timestamp? { start?.advanced(by: duration(of: frames)) }

    /// The loudest sample of a buffer, in thousandths of full scale.
    func peak(of buffer: MediaBuffer) -> Int { unsafe SamplePeak.of(buffer.bytes, format.sampleFormat) }

    /// Bytes of a sample frame.
    var bytesPerFrame: Int { format.bytesPerFrame }

    /// Sample frames a second.
    var rate: Int { format.sampleRate }

    /// Whether the limit is reached.
    var isFull: Bool { frames >= limit }

    /// Takes a buffer and gives out what stands for it.
    ///
    /// - Parameter earliest: Samples before this time are cut; looked at with the first buffer.
    func take(
        _ buffer: MediaBuffer,
        notBefore earliest: Timestamp? = nil,
        _ give: (Piece) throws(CaptureError) -> Void
    ) throws(CaptureError) {
        let info = buffer.info
        var bytes = unsafe buffer.bytes
        var count = Int64(bytes.count / format.bytesPerFrame)
        let position = Int64(clamping: info.position)
        if start == nil {
            start = info.timestamp
            origin = position
            if let earliest, earliest > info.timestamp {
                skip = frameCount(of: earliest - info.timestamp)
                start = earliest
                origin = position + skip
            }
        }
        let place = place(of: buffer)
        if origin != position - place {
            origin = position - place
            clock.breakOff()
        }
        if place > taken {
            var gap = place - taken
            if resampler != nil {
                let doubt = Int64(Double(gap) * AudioTimeline.doubt)
                gap = min(max(missing(until: info.timestamp), gap - doubt), gap + doubt)
            }
            gap = min(gap, room)
            taken = place
            clock.breakOff()
            if gap > 0 {
                counters.update { $0.missedSamples += UInt64(gap) }
                try silence(gap, give)
            }
        }
        // Samples from before the start, or that were there already.
        let cut = min(max(taken - place, 0), count)
        unsafe bytes = unsafe UnsafeRawBufferPointer(rebasing: bytes[(Int(cut) * format.bytesPerFrame)...])
        count -= cut
        guard count > 0 else { return }
        if info.flags.contains(.silence) {
            // As long as the monotonic clock says, unlike samples.
            clock.breakOff()
            let kept = min(resampler == nil ? count : unstretched(count), room)
            taken += count
            counters.update { $0.silence += UInt64(kept) }
            return try silence(kept, give)
        }
        try follow(info.timestamp, position, after: cut)
        let kept = min(count, room)
        // What lies behind the limit is no gap before what follows.
        taken += count
        guard kept > 0 else { return }
        let used = Int(kept) * format.bytesPerFrame
        let piece = unsafe UnsafeRawBufferPointer(rebasing: bytes[..<used])
        let peak = unsafe SamplePeak.of(piece, format.sampleFormat)
        let ppm = clock.partsPerMillion
        counters.update { counters in
            counters.peak = max(counters.peak, peak)
            if let ppm { counters.drift = ppm }
        }
        try unsafe give(.samples(piece))
    }

    /// Where a buffer belongs, counted in sample frames from the first one that is kept.
    func place(of buffer: MediaBuffer) -> Int64 {
        let place = Int64(clamping: buffer.info.position) - origin
        let count = Int64(buffer.count / format.bytesPerFrame)
        if place >= taken - count - skip { return place }
        // The count began anew, as after a restart of the device: time tells the place.
        return taken + max(missing(until: buffer.info.timestamp), 0)
    }

    // MARK: Two clocks

    /// Compares the clocks, and stretches what comes next.
    private func follow(_ time: Timestamp, _ position: Int64, after cut: Int64) throws(CaptureError) {
        clock.note(time: time.nanoseconds, position: position)
        guard let resampler, let start else { return }
        let early = time - start + duration(of: cut) - resampler.laid
        correction.follow(slope: clock.slope, early: early, time: time.nanoseconds)
        try resampler.stretch(by: correction.stretch)
    }

    /// How many sample frames, before they are stretched, fit between the end of what was taken and a time.
    private func missing(until time: Timestamp) -> Int64 {
        guard let start else { return 0 }
        guard let resampler else { return frameCount(of: time - start) - taken }
        return unstretched(frameCount(of: time - start - resampler.laid))
    }

    /// How many sample frames become that many when they are stretched.
    private func unstretched(_ frames: Int64) -> Int64 {
        Int64((Double(frames) / (1 + (resampler?.stretch ?? 0))).rounded())
    }

    /// How many sample frames are left to the limit, before they are stretched.
    private var room: Int64 {
        limit == .max ? .max : max(resampler == nil ? limit - taken : unstretched(limit - frames), 0)
    }

    /// Sample frames that fit in a stretch of time, rounded to the nearest.
    func frameCount(of nanoseconds: Int64) -> Int64 {
        let rate = Int64(format.sampleRate)
        let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        let part = rest * rate
        return seconds * rate + (part + (part < 0 ? -500_000_000 : 500_000_000)) / 1_000_000_000
    }

    /// Nanoseconds that sample frames last.
    func duration(of frames: Int64) -> Int64 { format.duration(of: frames) }

    private func silence(_ frames: Int64, _ give: (Piece) throws(CaptureError) -> Void) throws(CaptureError) {
        var left = frames
        while left > 0 {
            let part = min(left, Int64(format.sampleRate))
            try give(.silence(Int(part)))
            left -= part
        }
    }
}

/// The loudest of some samples.
enum SamplePeak {
    /// In thousandths of full scale.
    static func of(_ bytes: UnsafeRawBufferPointer, _ format: SampleFormat) -> Int {
        switch format {
        case .s16:
            var peak: Int32 = 0
            let samples = unsafe bytes.bindMemory(to: Int16.self)
            for index in 0..<samples.count { peak = max(peak, abs(Int32(unsafe samples[index]))) }
            return Int(peak) * 1000 / 32768
        case .s32:
            var peak: Int64 = 0
            let samples = unsafe bytes.bindMemory(to: Int32.self)
            for index in 0..<samples.count { peak = max(peak, abs(Int64(unsafe samples[index]))) }
            return Int(peak * 1000 / 2_147_483_648)
        case .s24Packed:
            var peak = 0
            for index in stride(from: 2, to: bytes.count, by: 3) {
                let high = unsafe Int(Int8(bitPattern: bytes[index]))
                peak = max(peak, abs(high * 65536 + (unsafe Int(bytes[index - 1])) * 256))
            }
            return min(peak * 1000 / 8_388_608, 1000)
        case .float32:
            var peak: Float = 0
            let samples = unsafe bytes.bindMemory(to: Float.self)
            for index in 0..<samples.count {
                let sample = unsafe samples[index]
                if sample.isFinite { peak = max(peak, abs(sample)) }
            }
            return Int(min(peak, 1) * 1000)
        }
    }
}
