public import CaptureCore

/// The range of a camera's crop.
public struct SupportedCrop: Hashable, Sendable {
    /// All that the camera sees, in pixels of its sensor or signal: each crop lies in it.
    public var bounds: PixelRectangle
    /// The crop after ``CaptureDevice/resetControls()``.
    public var standard: PixelRectangle
}

extension CaptureDevice {
    /// The range of the crop; `nil` for a camera that cannot crop.
    ///
    /// The bounds of an input with a cable are those of the signal, and change with it.
    ///
    /// - Throws: As ``controls()``.
    public func supportedCrop() async throws(CaptureError) -> SupportedCrop? {
        guard let crop = try await ControlSet(of: self)[.crop], let bounds = crop.bounds,
            let standard = crop.defaultRectangle
        else { return nil }
        return SupportedCrop(bounds: bounds, standard: standard)
    }

    /// The part of what the camera sees that becomes its picture, in pixels of its sensor or signal.
    ///
    /// - Throws: `invalidArgument` for a camera that cannot crop; as ``controls()``.
    public func crop() async throws(CaptureError) -> PixelRectangle {
        let controls = try await ControlSet(of: self)
        guard let crop = try controls.need(.crop, for: "a crop").rectangle else {
            throw ControlSet.unsupported(self, "a crop", "its control 'crop' is no rectangle")
        }
        return crop
    }

    /// Makes a part of what the camera sees its picture.
    ///
    /// A camera with a scaler fills frames of the same size with it. Others change the size of their frames, and refuse
    /// while somebody captures.
    ///
    /// - Parameter rectangle: In pixels, within the bounds of ``supportedCrop()``.
    /// - Returns: The crop now: the nearest one that the driver has.
    /// - Throws: `invalidArgument` for a camera that cannot crop, or a rectangle that is empty or not within the bounds.
    ///   `busy` if frames that stream would change their size; as ``setControl(_:to:)``.
    @discardableResult
    public func setCrop(_ rectangle: PixelRectangle) async throws(CaptureError) -> PixelRectangle {
        let controls = try await ControlSet(of: self)
        let control = try controls.need(.crop, for: "a crop")
        try control.check(rectangle)
        if let value = rectangle.number { try await controls.set([(control, value)]) }
        return try await crop()
    }
}
