/// The clock of a sound card beside the monotonic one, which the pictures' times are of: by how much it is off, and how
/// sound is stretched to follow.
///
/// Pure arithmetic, which allocates nothing. Times of cards jitter, so the slope is that of a straight line through the
/// last minute, by least squares, whose older points count less and less. Thread-bound.
struct SoundClock {
    /// Seconds after which a point counts for a third.
    private static let memory = 20.0
    /// What the squares of the first points are added to: they tell little, and a clock that is exact is likely.
    private static let doubt = 4.0
    /// Seconds by which a time is off its line when it is no jitter any more.
    private static let jump = 0.02
    /// Shorter streams tell no slope, in seconds.
    private static let shortest = 2.0

    private let rate: Double
    private var first: (time: Int64, position: Int64)?
    private var latest = 0.0
    private var weight = 0.0
    private var mean = (x: 0.0, y: 0.0)
    private var sums = (xx: 0.0, xy: 0.0)
    private var shift = 0.0
    private var isBroken = false

    /// A clock that nominally counts `rate` samples a second.
    init(rate: Int) {
        self.rate = Double(rate)
    }

    /// By which part the clock is too fast, as 0.0001 for 100 ppm; 0 before anything is known.
    var slope: Double { sums.xy / (sums.xx + SoundClock.doubt) }

    /// The same in parts per million; `nil` before two seconds have passed.
    var partsPerMillion: Int? {
        latest > SoundClock.shortest && abs(slope) < 1000 ? Int((slope * 1e6).rounded()) : nil
    }

    /// Takes the time of a sample, in nanoseconds, and its number.
    mutating func note(time: Int64, position: Int64) {
        guard let first else {
            self.first = (time, position)
            return
        }
        let x = Double(time - first.time) / 1e9
        var y = Double(position - first.position) / rate - x + shift
        let expected = mean.y + slope * (x - mean.x)
        if isBroken || abs(y - expected) > SoundClock.jump {
            // The count goes on elsewhere; the clock is the same.
            shift += expected - y
            y = expected
            isBroken = false
        }
        let kept = SoundClock.share(of: x - latest, within: SoundClock.memory)
        latest = x
        weight = weight * kept + 1
        let ahead = x - mean.x
        mean.x += ahead / weight
        mean.y += (y - mean.y) / weight
        sums.xx = sums.xx * kept + ahead * (x - mean.x)
        sums.xy = sums.xy * kept + ahead * (y - mean.y)
    }

    /// The count starts anew, for example after a gap that another clock measured.
    mutating func breakOff() { isBroken = true }

    /// What is left after some time of a thing that decays.
    fileprivate static func share(of time: Double, within memory: Double) -> Double {
        // The exponential function, as near as it takes for short times.
        1 / (1 + max(time, 0) / memory)
    }
}

/// How much longer sound is made so that it stays with the pictures: the measured slope is taken away, and what it is off
/// already is made up for, too slowly to be heard. Pure arithmetic. Thread-bound.
struct SoundCorrection {
    /// More than this part no clock is off.
    private static let most = 0.01
    /// Seconds in which a distance would be made up for.
    private static let patience = 5.0
    /// The part by which the pitch may differ for that: less than is heard.
    private static let mostForDistance = 0.0005
    /// By which part the correction changes in a second.
    private static let pace = 0.001
    /// Seconds over which the distance is averaged.
    private static let memory = 1.0

    /// By which part sound is longer than it came; negative for shorter.
    private(set) var stretch = 0.0
    private var distance = 0.0
    private var latest: Int64?

    /// Takes where a buffer is.
    ///
    /// - Parameters:
    ///   - slope: By which part the sound's clock is too fast.
    ///   - early: Nanoseconds that the buffer would be heard too early.
    ///   - time: The buffer's time, in nanoseconds.
    mutating func follow(slope: Double, early: Int64, time: Int64) {
        let passed = min(max(Double(time - (latest ?? time)) / 1e9, 0), 1)
        latest = time
        let kept = SoundClock.share(of: passed, within: SoundCorrection.memory)
        distance += (Double(early) / 1e9 - distance) * (1 - kept)
        let step = SoundCorrection.mostForDistance
        let wanted = -slope + min(max(distance / SoundCorrection.patience, -step), step)
        let change = min(max(wanted - stretch, -SoundCorrection.pace * passed), SoundCorrection.pace * passed)
        stretch = min(max(stretch + change, -SoundCorrection.most), SoundCorrection.most)
    }
}
