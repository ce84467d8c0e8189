public import CaptureCore

/// How a camera focuses.
public enum FocusMode: Hashable, Sendable {
    /// The lens stands still: at a position from 0, V4L2's least value, to 1; with `nil`, at the present one.
    case locked(lensPosition: Double? = nil)
    /// The camera focuses once, and then the lens stands still.
    case autoFocus
    /// The camera focuses by itself all the time.
    case continuousAutoFocus
}

extension CaptureDevice {
    /// The modes that the camera has, of `locked`, which has its position now, `autoFocus` and `continuousAutoFocus`;
    /// empty for a camera with a fixed focus.
    public func supportedFocusModes() async throws(CaptureError) -> Set<FocusMode> {
        let controls = try await ControlSet(of: self)
        var modes: Set<FocusMode> = []
        if let focus = controls[.focus] { modes.insert(.locked(lensPosition: focus.fraction)) }
        if controls[.autoFocus] != nil { modes.insert(.autoFocus) }
        if controls[.continuousFocus] != nil { modes.insert(.continuousAutoFocus) }
        return modes
    }

    /// How the camera focuses now.
    ///
    /// - Throws: `invalidArgument` for a camera with a fixed focus; as ``controls()``.
    public func focusMode() async throws(CaptureError) -> FocusMode {
        let controls = try await ControlSet(of: self)
        if let mode = controls[.continuousFocus], mode.value != 0 { return .continuousAutoFocus }
        return .locked(lensPosition: try controls.need(.focus, for: "focus").fraction)
    }

    /// Sets the focus mode.
    ///
    /// - Throws: `invalidArgument` for a mode that the camera does not have, or a position outside of 0 to 1; as
    ///   ``setControl(_:to:)``.
    public func setFocusMode(_ mode: FocusMode) async throws(CaptureError) {
        let controls = try await ControlSet(of: self)
        switch mode {
        case .locked(let position):
            var changes: [(DeviceControl, Int64)] = []
            if let automatic = controls[.continuousFocus] { changes.append((automatic, 0)) }
            if let position {
                let focus = try controls.need(.focus, for: "a lens position")
                changes.append((focus, try focus.value(at: position, "a lens position")))
            } else if changes.isEmpty {
                _ = try controls.need(.focus, for: "focus")
            }
            try await controls.set(changes)
        case .autoFocus:
            let once = try controls.need(.autoFocus, for: "focusing once")
            let stop = controls[.continuousFocus].map { [($0, Int64(0))] } ?? []
            try await controls.set(stop + [(once, 1)])
        case .continuousAutoFocus:
            try await controls.set(.continuousFocus, to: 1, for: "automatic focus")
        }
    }
}
