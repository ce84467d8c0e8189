public import CaptureCore

/// How a camera finds white.
public enum WhiteBalanceMode: Hashable, Sendable {
    /// For light of a colour temperature in kelvin; with `nil`, as it is now.
    case locked(temperature: Double? = nil)
    /// The camera finds white once, and then leaves it.
    case autoWhiteBalance
    /// The camera finds white by itself all the time.
    case continuousAutoWhiteBalance
}

extension CaptureDevice {
    /// The modes that the camera has, of `locked`, which has its temperature now, `autoWhiteBalance` and
    /// `continuousAutoWhiteBalance`.
    public func supportedWhiteBalanceModes() async throws(CaptureError) -> Set<WhiteBalanceMode> {
        let controls = try await ControlSet(of: self)
        var modes: Set<WhiteBalanceMode> = []
        if let temperature = controls[.temperature] { modes.insert(.locked(temperature: temperature.number())) }
        if controls[.whiteBalanceOnce] != nil { modes.insert(.autoWhiteBalance) }
        if controls[.autoWhiteBalance] != nil { modes.insert(.continuousAutoWhiteBalance) }
        return modes
    }

    /// The colour temperatures that white balance can be locked to, in kelvin; `nil` for none.
    public func supportedWhiteBalanceTemperatures() async throws(CaptureError) -> ClosedRange<Double>? {
        try await ControlSet(of: self)[.temperature]?.range()
    }

    /// How the camera finds white now.
    ///
    /// - Throws: `invalidArgument` for a camera without control of it; as ``controls()``.
    public func whiteBalanceMode() async throws(CaptureError) -> WhiteBalanceMode {
        let controls = try await ControlSet(of: self)
        if let mode = controls[.autoWhiteBalance] {
            return mode.value != 0
                ? .continuousAutoWhiteBalance : .locked(temperature: controls[.temperature]?.number())
        }
        return .locked(temperature: try controls.need(.temperature, for: "white balance").number())
    }

    /// Sets the white balance mode.
    ///
    /// - Throws: `invalidArgument` for a mode that the camera does not have, or a temperature out of range; as
    ///   ``setControl(_:to:)``.
    public func setWhiteBalanceMode(_ mode: WhiteBalanceMode) async throws(CaptureError) {
        let controls = try await ControlSet(of: self)
        let stop = controls[.autoWhiteBalance].map { [($0, Int64(0))] } ?? []
        switch mode {
        case .locked(let kelvin?):
            let temperature = try controls.need(.temperature, for: "a colour temperature")
            let value = try temperature.value(of: kelvin, "the temperature in kelvin")
            try await controls.set(stop + [(temperature, value)])
        case .locked(nil):
            // A camera without automatic white balance is always locked.
            if stop.isEmpty { _ = try controls.need(.temperature, for: "locked white balance") }
            try await controls.set(stop)
        case .autoWhiteBalance:
            try await controls.set(stop + [(try controls.need(.whiteBalanceOnce, for: "finding white once"), 1)])
        case .continuousAutoWhiteBalance:
            try await controls.set(.autoWhiteBalance, to: 1, for: "automatic white balance")
        }
    }
}
