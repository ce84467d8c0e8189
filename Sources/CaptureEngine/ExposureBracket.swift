import CaptureCore
import Glibc

/// How a camera is set for the photos of a bracket: its own bias while it exposes by itself, else times of exposure.
struct ExposureBracket: Hashable, Sendable {
    typealias Step = ShotPlan.Step

    let steps: [Step]
    /// Whether the camera finds its exposure by itself, which takes it a while.
    let isAutomatic: Bool

    /// V4L2's number of an exposure time that is set by hand.
    static let manual: Int64 = 1

    /// - Parameters:
    ///   - biases: In EV, as `PhotoSettings.bracket`.
    ///   - controls: The camera's.
    /// - Throws: `invalidArgument` for a camera that can be set in neither way, or not so far.
    init(_ biases: [Double], of camera: String, _ controls: [DeviceControl]) throws(CaptureError) {
        func control(_ name: String) -> DeviceControl? { controls.first { $0.name == name } }
        let mode = control("exposure_auto")
        let isManual = mode?.value == Self.manual
        if let bias = control("auto_exposure_bias"), bias.isWritable, !isManual {
            steps = try Self.byBias(biases, bias)
            isAutomatic = true
            return
        }
        // The mode by hand makes an inactive time writable.
        let canBeManual = !isManual && mode?.isWritable == true && mode?.choices[Self.manual] != nil
        guard let exposure = control("exposure_absolute"), exposure.value > 0,
            canBeManual ? exposure.flags.isDisjoint(with: [.readOnly, .restricted]) : exposure.isWritable
        else {
            throw CaptureError(
                .invalidArgument,
                "\(camera) takes no bracket: it has neither an exposure bias ('auto_exposure_bias') nor an exposure time "
                    + "that can be set ('exposure_absolute')"
            )
        }
        steps = try Self.byTime(biases, exposure, mode: canBeManual ? mode : nil)
        isAutomatic = false
    }

    private static func byBias(_ biases: [Double], _ control: DeviceControl) throws(CaptureError) -> [Step] {
        var steps: [Step] = []
        for bias in biases {
            let value = try control.value(of: bias, per: 1000, "the camera's exposure bias in EV")
            var set = control
            set.value = value
            steps.append(
                // A driver may offer any number. The range is that of what may be asked for.
                Step(
                    changes: [CameraChange(name: control.name, value: value)],
                    bias: Int64(
                        min(
                            max(set.number(), PhotoSettings.biases.lowerBound * 1000),
                            PhotoSettings.biases.upperBound * 1000
                        )
                    )
                )
            )
        }
        return steps
    }

    /// - Parameter mode: The control that leaves the time to others; `nil` if it does, or if there is none.
    private static func byTime(
        _ biases: [Double],
        _ exposure: DeviceControl,
        mode: DeviceControl?
    ) throws(CaptureError) -> [Step] {
        var steps: [Step] = []
        for bias in biases {
            let time = Double(exposure.value) * exp2(bias)
            guard time >= Double(exposure.minimum) - 0.5, time <= Double(exposure.maximum) + 0.5 else {
                throw CaptureError(
                    .invalidArgument,
                    "\(bias) EV is too much here: the camera would have to expose \(Int64(min(time, 1e18))) times 100 µs, and can do "
                        + "\(exposure.minimum) to \(exposure.maximum)"
                )
            }
            var changes: [CameraChange] = []
            if steps.isEmpty, let mode { changes.append(CameraChange(name: mode.name, value: manual)) }
            changes.append(CameraChange(name: exposure.name, value: exposure.nearest(time)))
            steps.append(Step(changes: changes, bias: Int64((bias * 1000).rounded())))
        }
        return steps
    }
}
