import CaptureCore

/// A camera's controls at one moment, for the typed settings: what they ask of single controls.
struct ControlSet {
    private let device: CaptureDevice
    private let controls: [DeviceControl]

    init(of device: CaptureDevice) async throws(CaptureError) {
        self.device = device
        controls = try await device.controls()
    }

    subscript(_ name: ControlName) -> DeviceControl? { controls.first { $0.name == name.rawValue } }

    /// A control that the camera must have.
    ///
    /// - Throws: `invalidArgument`, naming what the camera lacks.
    func need(_ name: ControlName, for what: String) throws(CaptureError) -> DeviceControl {
        if let control = self[name] { return control }
        throw ControlSet.unsupported(device, what, "it has no control '\(name.rawValue)'")
    }

    static func unsupported(_ device: CaptureDevice, _ what: String, _ why: String) -> CaptureError {
        CaptureError(.invalidArgument, "\(Printable.text(device.name)) does not support \(what): \(why)")
    }

    /// Writes values in this order, after all of them were found to be in range.
    func set(_ changes: [(DeviceControl, Int64)]) async throws(CaptureError) {
        for (control, value) in changes { try control.check(value) }
        for (control, value) in changes { try await device.setControl(control.name, to: value) }
    }

    /// Writes one control, which the camera must have.
    func set(_ name: ControlName, to value: Int64, for what: String) async throws(CaptureError) {
        try await set([(try need(name, for: what), value)])
    }
}

/// V4L2's controls that typed settings stand for.
enum ControlName: String {
    case autoExposureBias = "auto_exposure_bias"
    case autoFocus = "auto_focus_start"
    case autoWhiteBalance = "auto_white_balance"
    case exposure = "exposure_absolute"
    case exposureMode = "exposure_auto"
    case continuousFocus = "focus_auto"
    case focus = "focus_absolute"
    case gain
    case lampMode = "flash_led_mode"
    case locks = "3a_lock"
    case powerLine = "power_line_frequency"
    case sensitivity = "iso_sensitivity"
    case sensitivityMode = "iso_sensitivity_auto"
    case stabilization = "image_stabilization"
    case temperature = "white_balance_temperature"
    case whiteBalanceOnce = "do_white_balance"
    case zoom = "zoom_absolute"
}

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

    /// The value nearest to a number in its range, on its steps.
    func nearest(_ number: Double) -> Int64 {
        guard maximum > minimum else { return minimum }
        let step = Double(max(step, 1))
        let steps = ((number - Double(minimum)) / step).rounded()
        let most = ((Double(maximum) - Double(minimum)) / step).rounded(.down)
        let value = Double(minimum) + min(max(steps, 0), most) * step
        return value >= Double(maximum) ? maximum : Int64(value)
    }

    /// The numbers that a menu of numbers offers, or the ends of a range, and the values that stand for them.
    var numbers: [(number: Double, value: Int64)] {
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
    func value(of number: Double, per unit: Double = 1, _ what: String) throws(CaptureError) -> Int64 {
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
    func number(per unit: Double = 1) -> Double {
        (kind == .menu ? choices[value].flatMap(Double.init) ?? 0 : Double(value)) / unit
    }

    /// The range of what it stands for, in the caller's unit; `nil` where a menu has no numbers.
    func range(per unit: Double = 1) -> ClosedRange<Double>? {
        guard let least = numbers.first?.number, let most = numbers.last?.number, least <= most else { return nil }
        return least / unit...most / unit
    }
}
