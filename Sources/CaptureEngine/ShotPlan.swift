import CaptureCore

/// How a camera is set for photos: in steps, each for one picture or more.
struct ShotPlan: Hashable, Sendable {
    /// One setting of the camera.
    struct Step: Hashable, Sendable {
        /// In this order.
        var changes: [CameraChange]
        /// Of a bracket's picture, in thousandths of an EV.
        var bias: Int64?
        /// How many consecutive pictures are taken with it.
        var pictures = 1
    }

    /// In order.
    private(set) var steps: [Step]
    /// Whether the camera finds its exposure by itself, which takes it a while.
    let isAutomatic: Bool
    /// Whether the lamp shines; `nil` if it stays as it is.
    let isLit: Bool?

    /// V4L2's numbers of the lamp's modes.
    private static let (dark, torch): (Int64, Int64) = (0, 2)

    /// - Parameter controls: The camera's.
    /// - Throws: `invalidArgument` for a camera that cannot be set so.
    init(_ settings: PhotoSettings, of camera: String, _ controls: [DeviceControl]) throws(CaptureError) {
        isLit = settings.flash.map { $0 == .on }
        if settings.bracket.isEmpty {
            steps = [Step(changes: [], pictures: settings.burst)]
            let mode = controls.first { $0.name == "exposure_auto" }
            isAutomatic = mode?.value != ExposureBracket.manual
        } else {
            let bracket = try ExposureBracket(settings.bracket, of: camera, controls)
            (steps, isAutomatic) = (bracket.steps, bracket.isAutomatic)
        }
        guard let flash = settings.flash else { return }
        let lamp = controls.first { $0.name == "flash_led_mode" }
        let value = flash == .on ? Self.torch : Self.dark
        guard let lamp, lamp.isWritable, lamp.choices[value] != nil else {
            // Without a lamp it is dark.
            if flash == .off { return }
            throw CaptureError(
                .invalidArgument,
                "\(camera) has no lamp that can shine for a photo ('flash_led_mode' with a torch); leave the flash out"
            )
        }
        steps[0].changes.insert(CameraChange(name: lamp.name, value: value), at: 0)
    }
}
