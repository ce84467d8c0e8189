/// With what a file is made, for the file to say it.
public struct CaptureOrigin: Hashable, Sendable {
    /// A longer name is cut to this many characters.
    static let longestName = 64

    /// The camera's name; empty without one.
    public var camera: String
    /// The maker of the camera, if its name tells; empty otherwise.
    public var cameraMaker: String
    /// The microphone's name; empty without one.
    public var microphone: String
    /// How long the camera exposes each frame, in nanoseconds; 0 if it does not say.
    public var exposure: Int64
    /// The camera's own number for its gain, from 0 on; `nil` if it does not say.
    public var gain: Int64?
    /// Its sensitivity after ISO 12232; 0 if it does not say.
    public var sensitivity: Int64
    /// Whether the camera sets its exposure by itself; `nil` if it does not say.
    public var exposureMode: CameraAdjustment?
    /// Whether the camera sets its white balance by itself; `nil` if it does not say.
    public var whiteBalance: CameraAdjustment?
    /// How much brighter than usual the camera exposes, in thousandths of an EV; `nil` if it does not say.
    public var exposureBias: Int64?
    /// Whether the camera's lamp shines; `nil` if that is not known.
    public var isLit: Bool?

    /// An origin of the given names, of which what cannot be printed is left out.
    public init(
        camera: String = "",
        cameraMaker: String = "",
        microphone: String = "",
        exposure: Int64 = 0,
        gain: Int64? = nil,
        sensitivity: Int64 = 0,
        exposureMode: CameraAdjustment? = nil,
        whiteBalance: CameraAdjustment? = nil,
        exposureBias: Int64? = nil
    ) {
        self.camera = Self.printable(camera)
        self.cameraMaker = Self.printable(cameraMaker)
        self.microphone = Self.printable(microphone)
        self.exposure = max(exposure, 0)
        self.gain = gain.flatMap { $0 >= 0 ? $0 : nil }
        self.sensitivity = max(sensitivity, 0)
        self.exposureMode = exposureMode
        self.whiteBalance = whiteBalance
        self.exposureBias = exposureBias
    }

    /// The origin of what these devices deliver.
    public init(camera: DeviceDescription?, microphone: DeviceDescription?) {
        self.init(
            camera: camera?.name ?? "",
            cameraMaker: camera.map { Self.maker(of: $0) } ?? "",
            microphone: microphone?.name ?? ""
        )
    }

    /// Takes what photos say from a camera's settings, after V4L2's `EXPOSURE_ABSOLUTE`, which counts tenths of
    /// milliseconds, `EXPOSURE_AUTO`, whose 1 and 2 leave the time to the person, `GAIN`, `ISO_SENSITIVITY`, a menu of
    /// thousandths, and `AUTO_WHITE_BALANCE`. `AUTO_EXPOSURE_BIAS` is in thousandths of an EV.
    public mutating func note(_ settings: [DeviceControl]) {
        if let bias = settings.first(where: { $0.name == "auto_exposure_bias" }) {
            let number = bias.number(per: 1)
            exposureBias = abs(number) <= 1_000_000 ? Int64(number) : nil
        }
        for setting in settings where setting.value >= 0 {
            switch setting.name {
            case "exposure_time_absolute", "exposure_absolute": exposure = min(setting.value, 1 << 32) * 100_000
            case "gain": gain = setting.value
            case "iso_sensitivity": sensitivity = (setting.choices[setting.value].flatMap { Int64($0) } ?? 0) / 1000
            case "auto_exposure", "exposure_auto":
                exposureMode = setting.value == 1 || setting.value == 2 ? .manual : .automatic
            case "white_balance_automatic", "white_balance_temperature_auto":
                whiteBalance = setting.value == 0 ? .manual : .automatic
            default: continue
            }
        }
    }

    /// Who made a camera: udev puts the vendor before the name in what it calls a USB device, as in
    /// `v4l2:usb-Logitech_HD_Webcam-video-index0`. Without one, the driver.
    private static func maker(of camera: DeviceDescription) -> String {
        let model = camera.name.prefix { $0 != ":" }.split(separator: " ").joined(separator: "_")
        guard let usb = camera.id.rawValue.firstRange(of: "usb-"), !model.isEmpty,
            let name = camera.id.rawValue[usb.upperBound...].firstRange(of: "_" + model)
        else { return camera.driver }
        return camera.id.rawValue[usb.upperBound..<name.lowerBound].split(separator: "_").joined(separator: " ")
    }

    private static func printable(_ name: String) -> String {
        let letters = name.filter { $0.unicodeScalars.allSatisfy { $0.value >= 32 && !(127...159).contains($0.value) } }
        return String(letters.prefix(longestName))
    }
}

/// The way in which something of a camera is set.
public enum CameraAdjustment: String, Hashable, Sendable {
    /// By the camera itself.
    case automatic
    /// By a person or a program.
    case manual
    /// By a program, differently for each of several photos.
    case bracket
}
