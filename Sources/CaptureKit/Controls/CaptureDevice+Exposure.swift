public import CaptureCore

/// How a camera exposes.
public enum ExposureMode: Hashable, Sendable {
    /// As it exposes now.
    case locked
    /// The camera exposes by itself all the time.
    case continuousAutoExposure
    /// With this time and sensitivity; what is `nil` stays as it is.
    ///
    /// `iso` is film speed, which few cameras know. `gain` is the driver's own number, within the range of
    /// ``CaptureDevice/supportedExposure()``.
    case custom(duration: Duration? = nil, iso: Double? = nil, gain: Int64? = nil)
}

/// The ranges of a camera's exposure; `nil` for a property that it does not have.
public struct SupportedExposure: Hashable, Sendable {
    /// Whether it exposes by itself.
    public var continuousAutoExposure: Bool
    /// The shortest and the longest time, in steps of 100 µs.
    public var duration: ClosedRange<Duration>?
    /// Film speed.
    public var iso: ClosedRange<Double>?
    /// The driver's own numbers.
    public var gain: ClosedRange<Int64>?
    /// How much brighter or darker than the camera thinks right, in EV.
    public var targetBias: ClosedRange<Double>?
}

extension CaptureDevice {
    /// What 1 is of V4L2's exposure time.
    private static let exposureStep = Duration.microseconds(100)
    /// V4L2 counts film speed and bias in thousandths.
    private static let thousand: Double = 1000
    /// Bit of V4L2's 3A_LOCK for the exposure.
    private static let exposureLock: Int64 = 1
    /// Of V4L2's EXPOSURE_AUTO: automatic time and iris, the time by hand, and the automatic time with a fixed iris, as
    /// webcams have it.
    private static let (automatic, manual, aperturePriority) = (Int64(0), Int64(1), Int64(3))

    /// The ranges of the exposure.
    public func supportedExposure() async throws(CaptureError) -> SupportedExposure {
        let controls = try await ControlSet(of: self)
        let mode = controls[.exposureMode]
        return SupportedExposure(
            continuousAutoExposure: mode.map { Self.automaticMode($0) != nil } ?? false,
            duration: controls[.exposure].flatMap { exposure in
                exposure.minimum > exposure.maximum
                    ? nil : Self.exposureStep * exposure.minimum...Self.exposureStep * exposure.maximum
            },
            iso: controls[.sensitivity]?.range(per: Self.thousand),
            gain: controls[.gain].flatMap { $0.minimum <= $0.maximum ? $0.minimum...$0.maximum : nil },
            targetBias: controls[.autoExposureBias]?.range(per: Self.thousand)
        )
    }

    /// How the camera exposes now: `custom`, with what it has, unless it exposes by itself.
    ///
    /// - Throws: `invalidArgument` for a camera without control of its exposure; as ``controls()``.
    public func exposureMode() async throws(CaptureError) -> ExposureMode {
        let controls = try await ControlSet(of: self)
        if let locks = controls[.locks], locks.value & Self.exposureLock != 0 { return .locked }
        if let mode = controls[.exposureMode], mode.value != Self.manual { return .continuousAutoExposure }
        // A capture card has a gain, and no time.
        if controls[.gain] == nil, controls[.sensitivity] == nil { _ = try controls.need(.exposure, for: "exposure") }
        return .custom(
            duration: controls[.exposure].map { Self.exposureStep * $0.value },
            iso: controls[.sensitivity]?.number(per: Self.thousand),
            gain: controls[.gain]?.value
        )
    }

    /// Sets the exposure mode.
    ///
    /// - Throws: `invalidArgument` for a property that the camera lacks, or a value out of range; as
    ///   ``setControl(_:to:)``.
    public func setExposureMode(_ mode: ExposureMode) async throws(CaptureError) {
        let controls = try await ControlSet(of: self)
        switch mode {
        case .locked:
            if let locks = controls[.locks] {
                return try await controls.set([(locks, locks.value | Self.exposureLock)])
            }
            try await controls.set(.exposureMode, to: Self.manual, for: "locked exposure")
        case .continuousAutoExposure:
            let mode = try controls.need(.exposureMode, for: "automatic exposure")
            guard let value = Self.automaticMode(mode) else {
                throw ControlSet.unsupported(self, "automatic exposure", "'\(mode.name)' has no such choice")
            }
            try await controls.set(unlocking(controls) + [(mode, value)])
        case .custom(let duration, let iso, let gain):
            var changes = unlocking(controls)
            if let mode = controls[.exposureMode] { changes.append((mode, Self.manual)) }
            if let duration {
                let exposure = try controls.need(.exposure, for: "an exposure time")
                changes.append(
                    (exposure, try exposure.value(of: duration / Self.exposureStep, "the exposure time in 100 µs"))
                )
            }
            if let iso {
                let sensitivity = try controls.need(.sensitivity, for: "ISO")
                if let mode = controls[.sensitivityMode] { changes.append((mode, 0)) }
                changes.append((sensitivity, try sensitivity.value(of: iso, per: Self.thousand, "ISO")))
            }
            if let gain { changes.append((try controls.need(.gain, for: "gain"), gain)) }
            try await controls.set(changes)
        }
    }

    /// How much brighter or darker than the camera thinks right, in EV.
    ///
    /// - Throws: `invalidArgument` for a camera without; as ``controls()``.
    public func exposureTargetBias() async throws(CaptureError) -> Double {
        try await ControlSet(of: self).need(.autoExposureBias, for: "an exposure bias").number(per: Self.thousand)
    }

    /// Exposes brighter or darker than the camera thinks right, while it exposes by itself.
    ///
    /// - Parameter bias: In EV; the camera's nearest is taken.
    /// - Throws: `invalidArgument` for a camera without, or a value out of range; as ``setControl(_:to:)``.
    public func setExposureTargetBias(_ bias: Double) async throws(CaptureError) {
        let controls = try await ControlSet(of: self)
        let control = try controls.need(.autoExposureBias, for: "an exposure bias")
        try await controls.set([(control, try control.value(of: bias, per: Self.thousand, "the exposure bias in EV"))])
    }

    private func unlocking(_ controls: ControlSet) -> [(DeviceControl, Int64)] {
        guard let locks = controls[.locks], locks.value & Self.exposureLock != 0 else { return [] }
        return [(locks, locks.value & ~Self.exposureLock)]
    }

    private static func automaticMode(_ mode: DeviceControl) -> Int64? {
        [automatic, aperturePriority].first { mode.choices[$0] != nil }
    }
}
