import CaptureCore

extension DeviceControl {
    /// Its range as one that a fraction from 0 to 1 goes through; `nil` for an empty one.
    private var span: Double? { maximum > minimum ? Double(maximum) - Double(minimum) : nil }

    /// Where its value stands in its range, 0 to 1.
    var fraction: Double {
        guard let span else { return 0 }
        return min(max((Double(value) - Double(minimum)) / span, 0), 1)
    }

    /// The value at a place in its range, on its steps.
    ///
    /// - Throws: `invalidArgument` for a place outside of 0 to 1.
    func value(at fraction: Double, _ what: String) throws(CaptureError) -> Int64 {
        guard (0...1).contains(fraction) else {
            throw CaptureError(.invalidArgument, "\(what) goes from 0 to 1, not to \(fraction)")
        }
        return nearest(Double(minimum) + fraction * (span ?? 0))
    }
}
