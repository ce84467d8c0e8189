/// The numbers that a control stands for.
extension DeviceControl {
    /// The value nearest to a number in its range, on its steps.
    package func nearest(_ number: Double) -> Int64 {
        guard maximum > minimum, !number.isNaN else { return minimum }
        let step = Double(max(step, 1))
        let steps = ((number - Double(minimum)) / step).rounded()
        let most = ((Double(maximum) - Double(minimum)) / step).rounded(.down)
        let value = Double(minimum) + min(max(steps, 0), most) * step
        return value >= Double(maximum) ? maximum : Int64(value)
    }

    /// The numbers that a menu of numbers offers, or the ends of a range, and the values that stand for them.
    package var numbers: [(number: Double, value: Int64)] {
        switch kind {
        case .menu:
            choices.compactMap { value, text in Double(text).flatMap { $0.isFinite ? ($0, value) : nil } }
                .sorted { $0.0 < $1.0 }
        default: [(Double(minimum), minimum), (Double(maximum), maximum)]
        }
    }

    /// The value of a number that stands in a menu, or in a range.
    ///
    /// - Parameter unit: How many of the control's numbers make one of the caller's, as 1000 for EV.
    /// - Throws: `invalidArgument` naming the range.
    package func value(of number: Double, per unit: Double = 1, _ what: String) throws(CaptureError) -> Int64 {
        let numbers = numbers
        guard let least = numbers.first?.number, let most = numbers.last?.number, number.isFinite,
            least <= most, (least...most).contains(number * unit)
        else {
            let range = "\((numbers.first?.number ?? 0) / unit) to \((numbers.last?.number ?? 0) / unit)"
            throw CaptureError(.invalidArgument, "\(what) goes from \(range), not to \(number)")
        }
        guard kind == .menu else { return nearest(number * unit) }
        return numbers.min { abs($0.number - number * unit) < abs($1.number - number * unit) }?.value ?? value
    }

    /// What its value stands for, in the caller's unit.
    package func number(per unit: Double = 1) -> Double {
        (kind == .menu ? choices[value].flatMap(Double.init) ?? 0 : Double(value)) / unit
    }

    /// The range of what it stands for, in the caller's unit; `nil` where a menu has no numbers.
    package func range(per unit: Double = 1) -> ClosedRange<Double>? {
        guard let least = numbers.first?.number, let most = numbers.last?.number, least <= most else { return nil }
        return least / unit...most / unit
    }
}
