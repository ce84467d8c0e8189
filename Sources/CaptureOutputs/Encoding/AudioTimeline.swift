import CaptureCore

/// Lays sound at its place: what is missing between two buffers becomes silence of the exact length, what lies before
/// the file's start or behind its end is cut, and the clock of the sound is compared with the monotonic one.
///
/// Thread-bound.
final class AudioTimeline {
    /// A stretch that is to be encoded.
    @safe
    enum Piece {
        /// Samples as they came.
        case samples(UnsafeRawBufferPointer)
        /// Sample frames of nothing.
        case silence(Int)
    }

    /// When the first sample frame was captured.
    private(set) var start: Timestamp?
    /// Sample frames given out.
    private(set) var frames: Int64 = 0
    /// Sample frames after which nothing more is given out.
    var limit: Int64 = .max
    private let format: AudioFormat
    private let counters: RecorderCounters
    private var origin: Int64 = 0
    private var skip: Int64 = 0
    private var drift = DriftMeter()

    /// A timeline of sound of `format`; silence and drift are counted in `counters`.
    init(_ format: AudioFormat, _ counters: RecorderCounters) {
        self.format = format
        self.counters = counters
    }

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
        // Where this buffer belongs, counted from the first sample that is kept.
        var place = position - origin
        if place < frames - count - skip {
            // The count began anew, as after a restart of the device: time tells the place.
            let byTime = start.map { frameCount(of: info.timestamp - $0) } ?? frames
            place = max(byTime, frames)
            origin = position - place
            drift = DriftMeter()
        }
        if place > frames {
            let gap = min(place, limit) - frames
            if gap > 0 {
                counters.update { $0.missedSamples += UInt64(gap) }
                frames += gap
                try silence(gap, give)
            }
        }
        drift.add(time: info.timestamp.nanoseconds, position: position)
        if place < frames {
            // Samples from before the start, or that were there already.
            let cut = min(frames - place, count)
            unsafe bytes = unsafe UnsafeRawBufferPointer(rebasing: bytes[(Int(cut) * format.bytesPerFrame)...])
            count -= cut
        }
        let kept = min(count, limit - frames)
        guard kept > 0 else { return }
        frames += kept
        let used = Int(kept) * format.bytesPerFrame
        let piece = unsafe UnsafeRawBufferPointer(rebasing: bytes[..<used])
        let peak = unsafe SamplePeak.of(piece, format.sampleFormat)
        let ppm = drift.partsPerMillion(at: format.sampleRate)
        counters.update { counters in
            counters.peak = max(counters.peak, peak)
            if info.flags.contains(.silence) { counters.silence += UInt64(kept) }
            if let ppm { counters.drift = ppm }
        }
        try unsafe give(.samples(piece))
    }

    /// Sample frames that fit in a stretch of time, rounded to the nearest.
    func frameCount(of nanoseconds: Int64) -> Int64 {
        let rate = Int64(format.sampleRate)
        let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        let part = rest * rate
        return seconds * rate + (part + (part < 0 ? -500_000_000 : 500_000_000)) / 1_000_000_000
    }

    /// Nanoseconds that sample frames last.
    func duration(of frames: Int64) -> Int64 {
        let (seconds, rest) = frames.quotientAndRemainder(dividingBy: Int64(format.sampleRate))
        return seconds * 1_000_000_000 + rest * 1_000_000_000 / Int64(format.sampleRate)
    }

    private func silence(_ frames: Int64, _ give: (Piece) throws(CaptureError) -> Void) throws(CaptureError) {
        var left = frames
        while left > 0 {
            let part = min(left, Int64(format.sampleRate))
            try give(.silence(Int(part)))
            left -= part
        }
    }
}

/// How far a sound clock runs from the monotonic one: the slope of position over time, by least squares. Thread-bound.
struct DriftMeter {
    private var first: (time: Int64, position: Int64)?
    private var latest: Int64 = 0
    private var count = 0.0
    private var sums = (x: 0.0, y: 0.0, xx: 0.0, xy: 0.0)

    /// Takes the time and count of a buffer's first sample frame.
    mutating func add(time: Int64, position: Int64) {
        guard let first else {
            self.first = (time, position)
            return
        }
        latest = time - first.time
        let x = Double(latest) / 1e9
        let y = Double(position - first.position)
        count += 1
        sums.x += x
        sums.y += y
        sums.xx += x * x
        sums.xy += x * y
    }

    /// Parts per million, positive when the sound's clock is fast; `nil` before two seconds have passed.
    func partsPerMillion(at rate: Int) -> Int? {
        let spread = count * sums.xx - sums.x * sums.x
        guard latest > 2_000_000_000, spread > 0 else { return nil }
        let slope = (count * sums.xy - sums.x * sums.y) / spread
        let ppm = (slope / Double(rate) - 1) * 1e6
        return ppm.isFinite && abs(ppm) < 1e9 ? Int(ppm.rounded()) : nil
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
