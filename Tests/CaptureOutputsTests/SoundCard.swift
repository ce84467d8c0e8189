import CaptureCore
import Glibc

/// A sound card whose clock is off and that hears a click of 20 ms at every whole second of true time: what the daemon
/// publishes of it, period after period, with gaps, overruns and jitter. Deterministic.
struct SoundCard {
    static let format = AudioFormat(sampleFormat: .s16, sampleRate: 8000, channels: 1, periodFrames: 160)

    /// A period as it is published.
    struct Period {
        var time: Int64
        var position: Int64
        var bytes: [UInt8]
        var flags: BufferFlags
    }

    /// Parts per million by which the clock is fast.
    let drift: Int
    /// Nanoseconds by which a period's time is off, at most, to both sides.
    let jitter: Int64
    /// Seconds between one fault and the next: gaps and overruns take turns; 0 for none.
    let faultEvery: Double

    private var position: Int64 = 0
    /// A sample whose true time is known.
    private var known = (position: Int64(0), time: 0.0)
    private var random: UInt64 = 1
    private var nextFault: Double
    private var faults = 0

    init(drift: Int, jitter: Int64 = 500_000, faultEvery: Double = 0) {
        self.drift = drift
        self.jitter = jitter
        self.faultEvery = faultEvery
        nextFault = faultEvery > 0 ? faultEvery : .infinity
    }

    private var samplesPerSecond: Double { Double(Self.format.sampleRate) * (1 + Double(drift) / 1e6) }

    /// When a sample is heard, in true seconds.
    private func time(of position: Int64) -> Double {
        known.time + Double(position - known.position) / samplesPerSecond
    }

    /// True seconds until which there are periods.
    var now: Double { time(of: position) }

    /// The next period, or the silence in the place of an overrun.
    mutating func next() -> Period {
        let frames = Self.format.periodFrames
        // Between two clicks, so that none is cut.
        if now >= nextFault, (0.3..<0.5).contains(now - now.rounded(.down)) {
            nextFault += faultEvery
            faults += 1
            // From 20 ms to 3 s.
            let periods = Int64([1, 5, 20, 150][faults / 2 % 4])
            if faults % 2 == 0 {
                // Periods that were taken and found no slot: the card counted them.
                position += periods * Int64(frames)
            } else {
                // The card stood still: the daemon measures how long, by the time, and fills it with silence.
                let length = Double(periods * Int64(frames)) / Double(Self.format.sampleRate)
                let begin = now
                defer {
                    position += periods * Int64(frames)
                    known = (position, begin + length)
                }
                return Period(
                    time: Int64(begin * 1e9),
                    position: position,
                    bytes: [UInt8](repeating: 0, count: Int(periods) * Self.format.periodBytes),
                    flags: [.monotonic, .silence]
                )
            }
        }
        var bytes = [UInt8](repeating: 0, count: Self.format.periodBytes)
        let start = now
        if start.rounded(.up) - start < 0.021 || start - start.rounded(.down) < 0.021 {
            for index in 0..<frames {
                let moment = time(of: position + Int64(index))
                if moment - moment.rounded(.down) < 0.02 { bytes[index * 2 + 1] = 0x40 }
            }
        }
        random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        let off = jitter > 0 ? Int64(random >> 33) % (2 * jitter + 1) - jitter : 0
        defer { position += Int64(frames) }
        return Period(time: Int64(start * 1e9) + off, position: position, bytes: bytes, flags: .monotonic)
    }
}

/// Clicks of `SoundCard` in sound that comes in parts. Their times are seconds of the sound.
struct ClickFinder {
    private(set) var clicks: [Double] = []
    private var place = 0
    private var isLoud = false

    /// Looks at the next samples, of one channel in 16 bits.
    mutating func look(_ bytes: UnsafeRawBufferPointer) {
        let rate = SoundCard.format.sampleRate
        defer { place += bytes.count / 2 }
        // Most of it is silence.
        if bytes.count > 1, !isLoud, let memory = bytes.baseAddress, unsafe bytes.loadUnaligned(as: Int16.self) == 0,
            unsafe memcmp(memory, memory + 2, bytes.count - 2) == 0
        {
            return
        }
        for index in 0..<bytes.count / 2 {
            let sample = unsafe bytes.loadUnaligned(fromByteOffset: index * 2, as: Int16.self)
            let loud = sample > 8192
            if loud, !isLoud { clicks.append(Double(place + index) / Double(rate)) }
            isLoud = loud
        }
    }

    /// How far each click is from the whole second next to it, in seconds.
    var distances: [Double] { clicks.map { $0 - $0.rounded() } }
}
