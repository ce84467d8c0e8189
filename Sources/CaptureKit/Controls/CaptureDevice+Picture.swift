public import CaptureCore

/// Whether a camera's lamp shines.
public enum TorchMode: Hashable, Sendable {
    /// It is dark.
    case off
    /// It shines all the time.
    case on
}

/// Whether a camera's lamp flashes for a photo.
public enum FlashMode: Hashable, Sendable {
    /// It does not.
    case off
    /// It does, as the driver decides.
    case on
}

/// How a camera steadies its picture.
public enum VideoStabilizationMode: Hashable, Sendable {
    /// Not at all.
    case off
    /// As the driver has it.
    case standard
}

/// A way of removing the flicker of lamps.
public enum PowerLineFrequency: Int64, Hashable, Sendable, CaseIterable {
    /// Nothing.
    case disabled = 0
    /// For lamps on 50 Hz.
    case hertz50 = 1
    /// For lamps on 60 Hz.
    case hertz60 = 2
    /// For the frequency that the camera finds by itself.
    case automatic = 3
}

extension CaptureDevice {
    /// The zoom factors that the camera has, from 1; `nil` if it has no zoom, or does not say where it begins.
    public func supportedZoomFactors() async throws(CaptureError) -> ClosedRange<Double>? {
        guard let zoom = try await ControlSet(of: self)[.zoom], zoom.minimum > 0 else { return nil }
        return zoom.range(per: Double(zoom.minimum))
    }

    /// How much larger things are than at the camera's widest.
    ///
    /// - Throws: `invalidArgument` for a camera without zoom; as ``controls()``.
    public func videoZoomFactor() async throws(CaptureError) -> Double {
        let zoom = try zoom(in: try await ControlSet(of: self))
        return zoom.number(per: Double(zoom.minimum))
    }

    /// Zooms.
    ///
    /// - Parameter factor: How much larger things are to be than at the camera's widest; its nearest is taken.
    /// - Throws: `invalidArgument` for a camera without zoom, or a factor out of range; as ``setControl(_:to:)``.
    public func setVideoZoomFactor(_ factor: Double) async throws(CaptureError) {
        let controls = try await ControlSet(of: self)
        let zoom = try zoom(in: controls)
        try await controls.set([(zoom, try zoom.value(of: factor, per: Double(zoom.minimum), "the zoom factor"))])
    }

    /// V4L2 leaves the unit to the driver: a focal length, which says how much larger only if it begins above 0.
    private func zoom(in controls: ControlSet) throws(CaptureError) -> DeviceControl {
        let zoom = try controls.need(.zoom, for: "zoom")
        guard zoom.minimum > 0 else {
            throw ControlSet.unsupported(self, "zoom factors", "'\(zoom.name)' begins at \(zoom.minimum)")
        }
        return zoom
    }

    /// V4L2's FLASH_LED_MODE.
    private static let (dark, flash, torch) = (Int64(0), Int64(1), Int64(2))

    /// Whether the camera has a lamp that shines all the time.
    public func hasTorch() async throws(CaptureError) -> Bool {
        try await ControlSet(of: self)[.lampMode]?.choices[Self.torch] != nil
    }

    /// Whether the camera has a lamp that flashes.
    public func hasFlash() async throws(CaptureError) -> Bool {
        try await ControlSet(of: self)[.lampMode]?.choices[Self.flash] != nil
    }

    /// Whether the lamp shines.
    ///
    /// - Throws: `invalidArgument` for a camera without a lamp; as ``controls()``.
    public func torchMode() async throws(CaptureError) -> TorchMode {
        try await ControlSet(of: self).need(.lampMode, for: "a torch").value == Self.torch ? .on : .off
    }

    /// Turns the lamp on or off. On ends a flash mode of the same lamp, and the other way round.
    ///
    /// - Throws: `invalidArgument` for a camera without a lamp; as ``setControl(_:to:)``.
    public func setTorchMode(_ mode: TorchMode) async throws(CaptureError) {
        try await ControlSet(of: self).set(.lampMode, to: mode == .on ? Self.torch : Self.dark, for: "a torch")
    }

    /// Whether the lamp flashes.
    ///
    /// - Throws: `invalidArgument` for a camera without a lamp; as ``controls()``.
    public func flashMode() async throws(CaptureError) -> FlashMode {
        try await ControlSet(of: self).need(.lampMode, for: "a flash").value == Self.flash ? .on : .off
    }

    /// Has the lamp flash, or not.
    ///
    /// - Throws: `invalidArgument` for a camera without a lamp; as ``setControl(_:to:)``.
    public func setFlashMode(_ mode: FlashMode) async throws(CaptureError) {
        try await ControlSet(of: self).set(.lampMode, to: mode == .on ? Self.flash : Self.dark, for: "a flash")
    }

    /// The modes in which the camera steadies its picture; `off` alone if it does not.
    public func supportedVideoStabilizationModes() async throws(CaptureError) -> Set<VideoStabilizationMode> {
        try await ControlSet(of: self)[.stabilization] == nil ? [.off] : [.off, .standard]
    }

    /// Whether the camera steadies its picture.
    ///
    /// - Throws: As ``controls()``.
    public func videoStabilizationMode() async throws(CaptureError) -> VideoStabilizationMode {
        let control = try await ControlSet(of: self)[.stabilization]
        return control.map { $0.value != 0 } ?? false ? .standard : .off
    }

    /// Steadies the picture, or not.
    ///
    /// - Throws: `invalidArgument` for a camera that cannot; as ``setControl(_:to:)``.
    public func setVideoStabilizationMode(_ mode: VideoStabilizationMode) async throws(CaptureError) {
        let value: Int64 = mode == .standard ? 1 : 0
        try await ControlSet(of: self).set(.stabilization, to: value, for: "stabilization")
    }

    /// The frequencies whose flicker the camera removes; empty for none.
    public func supportedPowerLineFrequencies() async throws(CaptureError) -> Set<PowerLineFrequency> {
        let offered = try await ControlSet(of: self)[.powerLine]?.choices ?? [:]
        return Set(offered.keys.compactMap(PowerLineFrequency.init))
    }

    /// How the camera removes flicker now.
    ///
    /// - Throws: `invalidArgument` for a camera that does nothing, or something that V4L2 has no name for; as
    ///   ``controls()``.
    public func powerLineFrequency() async throws(CaptureError) -> PowerLineFrequency {
        let control = try await ControlSet(of: self).need(.powerLine, for: "power-line frequencies")
        if let frequency = PowerLineFrequency(rawValue: control.value) { return frequency }
        throw ControlSet.unsupported(self, "power-line frequencies", "'\(control.name)' is \(control.value)")
    }

    /// Removes the flicker of lamps.
    ///
    /// - Throws: `invalidArgument` for a frequency that the camera does not have; as ``setControl(_:to:)``.
    public func setPowerLineFrequency(_ frequency: PowerLineFrequency) async throws(CaptureError) {
        try await ControlSet(of: self).set(.powerLine, to: frequency.rawValue, for: "power-line frequencies")
    }
}
