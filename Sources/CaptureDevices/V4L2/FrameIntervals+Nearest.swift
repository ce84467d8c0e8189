import CaptureCore
import Glibc

extension FrameIntervals {
    /// The offered interval whose rate is nearest to a wish, by ratio; `nil` where the driver does not say.
    func nearest(to framesPerSecond: Double) -> FrameInterval? {
        switch self {
        case .discrete(let intervals):
            return intervals.filter { $0.numerator != 0 }.min {
                distance($0.framesPerSecond, framesPerSecond) < distance($1.framesPerSecond, framesPerSecond)
            }
        case .range(let shortest, let longest, let step):
            let seconds = 1 / framesPerSecond
            let least = shortest.seconds
            let most = max(least, longest.seconds)
            if seconds <= least, shortest.numerator != 0 { return shortest }
            if seconds >= most { return longest }
            guard let step, step.numerator != 0 else { return FrameInterval(approximating: seconds) }
            let steps = ((seconds - least) / step.seconds).rounded()
            return shortest.adding(step, times: UInt64(max(0, steps))) ?? FrameInterval(approximating: seconds)
        }
    }

    /// Whether one of the offered intervals has this rate, within the tolerance; true where the driver does not say.
    func offers(_ framesPerSecond: Double) -> Bool {
        guard let nearest = nearest(to: framesPerSecond) else { return true }
        return nearest.matches(framesPerSecond)
    }

    private func distance(_ rate: Double, _ wanted: Double) -> Double {
        rate <= 0 ? .infinity : abs(log2(rate / wanted))
    }
}

extension FrameInterval {
    /// Seconds.
    var seconds: Double { Double(numerator) / Double(denominator) }

    /// Whether this is the interval of a rate, within the tolerance of negotiation.
    func matches(_ framesPerSecond: Double) -> Bool {
        abs(self.framesPerSecond / framesPerSecond - 1) < FormatNegotiation.rateTolerance
    }

    /// The interval of a number of seconds, as a whole rate, a rate over 1001, or in units of 100 ns.
    init(approximating seconds: Double) {
        let rate = 1 / seconds
        if rate >= 1, abs(rate - rate.rounded()) < 1e-6 {
            self.init(1, UInt32(rate.rounded()))
        } else if rate >= 1, abs(rate * 1.001 - (rate * 1.001).rounded()) < 1e-4 {
            self.init(1001, UInt32((rate * 1.001).rounded()) * 1000)
        } else {
            self.init(UInt32(min(max(seconds * 1e7, 1).rounded(), 4e9)), 10_000_000)
        }
    }

    /// This interval and `times` another, shortened; `nil` when that does not fit.
    fileprivate func adding(_ other: FrameInterval, times: UInt64) -> FrameInterval? {
        let (product, overflow) = UInt64(other.numerator).multipliedReportingOverflow(by: times)
        let left = UInt64(numerator) * UInt64(other.denominator)
        let (right, overflowed) = product.multipliedReportingOverflow(by: UInt64(denominator))
        let (sum, exceeded) = left.addingReportingOverflow(right)
        guard !overflow, !overflowed, !exceeded, sum != 0 else { return nil }
        let below = UInt64(denominator) * UInt64(other.denominator)
        var (a, b) = (sum, below)
        while b != 0 { (a, b) = (b, a % b) }
        guard let numerator = UInt32(exactly: sum / a), let denominator = UInt32(exactly: below / a) else { return nil }
        return FrameInterval(numerator, denominator)
    }
}
