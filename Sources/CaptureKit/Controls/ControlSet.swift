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
    case crop
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
