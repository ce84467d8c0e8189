import CLibAV
import CaptureCore

/// How loud a sound is in the course of its time, and a picture of that. Thread-bound.
struct SoundWave {
    /// Parts that are kept at most; when there are more, two become one.
    private static let mostParts = 4096
    private static let (width, height, bars) = (2048, 1024, 128)

    /// The loudest sample of each part, 0 to 1.
    private var parts: [Float] = []
    /// Nanoseconds of each part.
    private var span: Int64 = 10_000_000

    /// Takes a decoded stretch of sound into account.
    ///
    /// - Parameters:
    ///   - frame: Samples of any form.
    ///   - time: When it begins, in nanoseconds.
    mutating func add(_ frame: UnsafePointer<AVFrame>, at time: Int64) {
        let rate = unsafe Int64(max(frame.pointee.sample_rate, 1))
        let count = unsafe Int64(max(frame.pointee.nb_samples, 0))
        var done: Int64 = 0
        while done < count {
            let now = time + done * 1_000_000_000 / rate
            // To the end of the part that this moment lies in, one sample at least.
            let rest = max(1, min(Int64(Double(span - now % span) * Double(rate) / 1e9), count - done))
            note(unsafe SoundWave.peak(of: frame, from: Int(done), count: Int(rest)), at: now)
            done += rest
        }
    }

    private mutating func note(_ peak: Float, at time: Int64) {
        while time / span >= SoundWave.mostParts {
            parts = stride(from: 0, to: parts.count, by: 2).map {
                max(parts[$0], $0 + 1 < parts.count ? parts[$0 + 1] : 0)
            }
            span *= 2
        }
        let part = Int(time / span)
        while parts.count <= part { parts.append(0) }
        parts[part] = max(parts[part], peak)
    }

    /// Bars as high as the sound is loud, from the middle up and down.
    func picture() -> Raster {
        var raster = Raster(width: SoundWave.width, height: SoundWave.height)
        let (rowBytes, pitch) = (raster.stride, SoundWave.width / SoundWave.bars)
        let middle = SoundWave.height / 2
        unsafe _ = raster.withRows { rows in
            for bar in 0..<SoundWave.bars {
                let (first, end) = (bar * parts.count / SoundWave.bars, (bar + 1) * parts.count / SoundWave.bars)
                let loudest = parts.isEmpty ? 0 : parts[first..<max(end, first + 1)].max() ?? 0
                // Silence is a line.
                let half = max(2, Int(min(loudest, 1) * Float(middle) * 0.94))
                for y in middle - half..<middle + half {
                    for x in bar * pitch + pitch / 4..<(bar + 1) * pitch - pitch / 4 {
                        let pixel = unsafe rows + y * rowBytes + x * 4
                        unsafe (pixel[0], pixel[1], pixel[2], pixel[3]) = (38, 84, 150, 255)
                    }
                }
            }
        }
        return raster
    }

    /// The loudest sample of a stretch, of any channel.
    private static func peak(of frame: UnsafePointer<AVFrame>, from: Int, count: Int) -> Float {
        let format = unsafe AVSampleFormat(rawValue: frame.pointee.format)
        let channels = unsafe Int(frame.pointee.ch_layout.nb_channels)
        let isPlanar = av_sample_fmt_is_planar(format) != 0
        var peak: Float = 0
        for plane in 0..<(isPlanar ? channels : 1) {
            guard let data = unsafe frame.pointee.extended_data[plane] else { continue }
            let samples = UnsafeRawPointer(data)
            let (first, end) = isPlanar ? (from, from + count) : (from * channels, (from + count) * channels)
            func note<Sample: BitwiseCopyable>(_: Sample.Type, _ value: (Sample) -> Float) {
                for at in first..<end {
                    let place = at * MemoryLayout<Sample>.size
                    let level = unsafe abs(value(samples.load(fromByteOffset: place, as: Sample.self)))
                    // A sample that is not a number does not count.
                    if level > peak { peak = level }
                }
            }
            switch av_get_packed_sample_fmt(format) {
            case AV_SAMPLE_FMT_U8: note(UInt8.self) { (Float($0) - 128) / 128 }
            case AV_SAMPLE_FMT_S16: note(Int16.self) { Float($0) / 32768 }
            case AV_SAMPLE_FMT_S32: note(Int32.self) { Float($0) / 2_147_483_648 }
            case AV_SAMPLE_FMT_FLT: note(Float.self) { $0 }
            case AV_SAMPLE_FMT_DBL: note(Double.self) { Float($0) }
            default: continue
            }
        }
        return peak
    }
}
