import CaptureCore
import Glibc

/// Measures how loud each channel is, twenty times a second of sound. Allocates nothing but what it hands out.
struct SoundLevels {
    private let format: AudioFormat
    private let channels: Int
    /// Sample frames that are measured together.
    private let window: Int
    private var count = 0
    private var squares: [Double]
    private var peaks: [Double]

    /// A measurement of sound of `format`.
    init(_ format: AudioFormat) {
        self.format = format
        channels = min(format.channels, AudioLevel.mostChannels)
        window = max(format.sampleRate / AudioLevel.perSecond, 1)
        squares = [Double](repeating: 0, count: channels)
        peaks = squares
    }

    /// Takes what comes next.
    ///
    /// - Parameter finished: Gets the levels of each stretch that is complete.
    mutating func take(_ bytes: UnsafeRawBufferPointer, _ finished: ([AudioLevel]) -> Void) {
        switch format.sampleFormat {
        case .s16:
            unsafe measureWhole(bytes, finished)
        case .s24Packed:
            unsafe measure(bytes, finished) {
                let high = unsafe Int32(Int8(bitPattern: $0[$1 + 2]))
                return unsafe Double(high << 16 | Int32($0[$1 + 1]) << 8 | Int32($0[$1])) / 8_388_608
            }
        case .s32:
            unsafe measure(bytes, finished) {
                unsafe Double($0.loadUnaligned(fromByteOffset: $1, as: Int32.self)) / 2_147_483_648
            }
        case .float32:
            unsafe measure(bytes, finished) {
                let sample = unsafe $0.loadUnaligned(fromByteOffset: $1, as: Float.self)
                return sample.isFinite ? Double(sample) : 0
            }
        }
    }

    /// Takes sample frames of nothing.
    mutating func takeSilence(_ frames: Int, _ finished: ([AudioLevel]) -> Void) {
        var left = frames
        while left > 0 {
            let part = min(left, window - count)
            count += part
            left -= part
            if count == window { finish(finished) }
        }
    }

    /// The same for 16 bits, in whole numbers: most microphones have these, and it takes a fraction of the time.
    private mutating func measureWhole(_ bytes: UnsafeRawBufferPointer, _ finished: ([AudioLevel]) -> Void) {
        let frames = bytes.count / format.bytesPerFrame
        var begin = 0
        while begin < frames {
            let end = min(begin + window - count, frames)
            for channel in 0..<channels {
                var (sum, top): (Int64, Int32) = (0, 0)
                for frame in begin..<end {
                    let place = frame * format.bytesPerFrame + channel * 2
                    let value = unsafe Int32(bytes.loadUnaligned(fromByteOffset: place, as: Int16.self))
                    sum += Int64(value * value)
                    top = max(top, abs(value))
                }
                squares[channel] += Double(sum) / (32768 * 32768)
                peaks[channel] = max(peaks[channel], Double(top) / 32768)
            }
            count += end - begin
            begin = end
            if count == window { finish(finished) }
        }
    }

    @inline(__always)
    private mutating func measure(
        _ bytes: UnsafeRawBufferPointer,
        _ finished: ([AudioLevel]) -> Void,
        _ sample: (UnsafeRawBufferPointer, Int) -> Double
    ) {
        let width = format.sampleFormat.bytes
        for frame in 0..<bytes.count / format.bytesPerFrame {
            for channel in 0..<channels {
                let value = unsafe sample(bytes, frame * format.bytesPerFrame + channel * width)
                squares[channel] += value * value
                peaks[channel] = max(peaks[channel], abs(value))
            }
            count += 1
            if count == window { finish(finished) }
        }
    }

    private mutating func finish(_ finished: ([AudioLevel]) -> Void) {
        finished(
            (0..<channels).map { channel in
                AudioLevel(
                    average: SoundLevels.decibels(squares[channel] / Double(count), 10),
                    peak: SoundLevels.decibels(peaks[channel], 20)
                )
            }
        )
        count = 0
        for channel in 0..<channels { (squares[channel], peaks[channel]) = (0, 0) }
    }

    /// To the hundredth.
    private static func decibels(_ part: Double, _ factor: Double) -> Double {
        guard part > 0 else { return AudioLevel.silence }
        let level = (factor * log10(part) * 100).rounded() / 100
        return min(max(level, AudioLevel.range.lowerBound), AudioLevel.range.upperBound)
    }
}
