import CaptureCore

/// What a lens, a sensor and a lamp are to a real camera: the synthetic camera's controls that V4L2 has numbers for. Their
/// ranges are those of an ordinary webcam. Thread-safe.
///
/// Exposure, gain and torch make the picture brighter or darker, and so does the bias while the exposure is automatic. The
/// crop enlarges a part of it. The others have a value, are disabled by their automatic modes and tell of changes, as in a real
/// camera, and leave the picture as it is.
final class SyntheticOptics: Sendable {
    /// Menu entries as V4L2 and uvcvideo number them.
    private static let exposureModes: [Int64: String] = [1: "Manual Mode", 3: "Aperture Priority Mode"]
    private static let frequencies: [Int64: String] = [0: "Disabled", 1: "50 Hz", 2: "60 Hz", 3: "Auto"]
    private static let lampModes: [Int64: String] = [0: "Off", 1: "Flash", 2: "Torch"]
    private static let automaticExposure: Int64 = 3
    private static let torch: Int64 = 2
    /// The sensor, of which each size of the picture shows all, unless it is cropped.
    static let sensor = PixelRectangle(width: 1920, height: 1080)

    /// The exposure and the gain of the picture as it is drawn.
    private static let usualExposure: Int64 = 156
    private static let usualGain: Int64 = 16

    private let exposureMode = ControlValue(automaticExposure)
    private let exposure = ControlValue(usualExposure)
    private let gain = ControlValue(usualGain)
    private let bias = ControlValue(0)
    private let lamp = ControlValue(0)
    private let cropped = ControlValue(sensor.number ?? 0)
    let entries: [SyntheticControls.Entry]

    init() {
        let (focusMode, balanceMode) = (ControlValue(1), ControlValue(1))
        func control(_ id: UInt32, _ control: DeviceControl, choices: [Int64: String] = [:]) -> DeviceControl {
            var numbered = control
            numbered.id = id
            numbered.name = V4L2ControlNames.name(of: id)
            numbered.unit = V4L2ControlNames.unit(of: id)
            numbered.choices = choices
            if !choices.isEmpty { numbered.kind = .menu }
            return numbered
        }
        func number(_ id: UInt32, _ label: String, _ range: ClosedRange<Int64>, _ standard: Int64, by step: Int64 = 1)
            -> DeviceControl
        {
            control(id, SyntheticControls.number("", label, range, standard, by: step))
        }
        func menu(_ id: UInt32, _ label: String, _ choices: [Int64: String], _ standard: Int64) -> DeviceControl {
            control(id, SyntheticControls.number("", label, 0...3, standard), choices: choices)
        }
        func toggle(_ id: UInt32, _ label: String, _ standard: Int64) -> DeviceControl {
            control(id, SyntheticControls.toggle("", label, standard))
        }
        func own(_ control: DeviceControl) -> SyntheticControls.Entry {
            SyntheticControls.Entry(control, ControlValue(control.defaultValue))
        }
        var shutter = toggle(0x9a0910, "Privacy", 0)
        shutter.flags = [.readOnly]
        var entries = [
            SyntheticControls.Entry(toggle(0x98090c, "White Balance, Automatic", 1), balanceMode),
            SyntheticControls.Entry(number(0x980913, "Gain", 0...64, Self.usualGain), gain),
            own(menu(0x980918, "Power Line Frequency", Self.frequencies, 1)),
            SyntheticControls.Entry(
                number(0x98091a, "White Balance Temperature", 2800...6500, 4600, by: 10),
                ControlValue(4600),
                idleWhile: (balanceMode, 1)
            ),
            SyntheticControls.Entry(menu(0x9a0901, "Auto Exposure", Self.exposureModes, 3), exposureMode),
            SyntheticControls.Entry(
                number(0x9a0902, "Exposure Time, Absolute", 1...5000, Self.usualExposure),
                exposure,
                idleWhile: (exposureMode, Self.automaticExposure)
            ),
            SyntheticControls.Entry(
                number(0x9a090a, "Focus, Absolute", 0...250, 30, by: 5),
                ControlValue(30),
                idleWhile: (focusMode, 1)
            ),
            SyntheticControls.Entry(toggle(0x9a090c, "Focus, Automatic Continuous", 1), focusMode),
            own(number(0x9a090d, "Zoom, Absolute", 100...500, 100)),
            SyntheticControls.Entry(shutter, ControlValue(0)),
            SyntheticControls.Entry(number(0x9a0913, "Auto Exposure, Bias", -2000...2000, 0, by: 500), bias),
            own(toggle(0x9a0916, "Image Stabilization", 0)),
            SyntheticControls.Entry(menu(0x9c0901, "LED Mode", Self.lampModes, 0), lamp),
        ]
        if let crop = DeviceControl.crop(Self.sensor, bounds: Self.sensor, standard: Self.sensor) {
            entries.append(SyntheticControls.Entry(crop, cropped))
        }
        self.entries = entries
    }

    /// The part of the sensor that the picture shows.
    var crop: PixelRectangle { PixelRectangle(number: cropped.now) }

    /// How bright the picture is, in 256ths of its usual brightness. The lamp doubles that.
    var brightness: Int64 { lamp.now == Self.torch ? exposed * 2 : exposed }

    /// The same in the dark: 256 while the exposure is automatic, but for the bias.
    private var exposed: Int64 {
        if exposureMode.now == Self.automaticExposure {
            // Whole stops double it, half ones are the square root of two.
            let bias = bias.now + 2000
            return (64 << min(max(bias / 1000, 0), 4)) * (bias % 1000 == 0 ? 1000 : 1414) / 1000
        }
        let (light, usual) = (exposure.now * (gain.now + Self.usualGain), Self.usualExposure * 2 * Self.usualGain)
        return min(256 * light / usual, 256 * 64)
    }
}
