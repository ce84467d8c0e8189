import CaptureCore

/// Which sample a microphone takes at which time, for a sample clock that is off by some millionths.
///
/// Pure arithmetic, exact to the nanosecond over any length of time.
struct SampleClock: Equatable {
    /// Samples a second, nominally.
    let rate: Int
    /// How much too fast it runs, in millionths; fixed from the anchor on.
    private(set) var drift: Int64
    /// A sample whose time is known.
    private var position: Int64
    private var time: Int64

    /// A clock whose sample 0 is at a stream time.
    init(rate: Int, start: Timestamp, drift: Int64 = 0) {
        self.rate = rate
        self.drift = drift
        position = 0
        time = start.nanoseconds
    }

    /// Runs at another drift from a sample on.
    mutating func setDrift(_ drift: Int64, from position: Int64) {
        time = self.time(of: position).nanoseconds
        self.position = position
        self.drift = drift
    }

    /// Samples in 10^15 nanoseconds.
    private var density: Int128 { Int128(rate) * Int128(1_000_000 + drift) }

    /// The stream time of a sample, rounded down.
    func time(of position: Int64) -> Timestamp {
        let passed = Int128(position - self.position) * 1_000_000_000_000_000 / density
        return Timestamp(nanoseconds: time + Int64(passed))
    }

    /// The first sample at or after a stream time.
    func position(at moment: Timestamp) -> Int64 {
        let passed = Int128(moment.nanoseconds - time) * density
        let unit: Int128 = 1_000_000_000_000_000
        let whole = passed > 0 ? (passed + unit - 1) / unit : passed / unit
        return position + Int64(whole)
    }
}
