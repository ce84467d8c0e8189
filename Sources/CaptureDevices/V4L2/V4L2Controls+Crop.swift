import CLinux
import CaptureCore
import CaptureSystem
import Glibc
import Logging

/// The crop: V4L2's selection rectangle, shown as one more control.
extension V4L2Controls {
    /// The crop with its bounds.
    ///
    /// - Parameter isLogged: Whether the log tells of rectangles that make no sense.
    /// - Returns: `nil` for a camera without a crop, and for such rectangles.
    /// - Throws: `deviceLost`.
    func crop(isLogged: Bool = true) throws(CaptureError) -> DeviceControl? {
        guard let bounds = try selection(V4L2_SEL_TGT_CROP_BOUNDS), let now = try selection(V4L2_SEL_TGT_CROP) else {
            return nil
        }
        let standard = try selection(V4L2_SEL_TGT_CROP_DEFAULT) ?? bounds
        if let control = DeviceControl.crop(now, bounds: bounds, standard: standard) { return control }
        if isLogged {
            log.notice("\(node.path) says that its crop is \(now), by default \(standard), within \(bounds): not shown")
        }
        return nil
    }

    /// Changes the crop. The driver may take the nearest one that it can.
    ///
    /// - Throws: As `DeviceSettings.set`.
    func setCrop(_ control: DeviceControl, to value: Int64) throws(CaptureError) {
        try control.check(value)
        let wanted = PixelRectangle(number: value)
        var answer = clinux_v4l2_rectangle(
            left: Int32(wanted.left),
            top: Int32(wanted.top),
            width: UInt32(wanted.width),
            height: UInt32(wanted.height)
        )
        do throws(SystemError) {
            try SystemError.check("set \(control.name) to \(wanted)") {
                unsafe clinux_v4l2_set_crop(node.descriptor, &answer)
            }
        } catch {
            throw failure(error, wanted)
        }
        let taken = PixelRectangle(answer)
        guard let bounds = control.bounds, bounds.contains(taken) else {
            throw CaptureError(
                .inputOutput,
                "\(node.path) was told to crop to \(wanted) and says that it crops to \(taken), outside of its bounds "
                    + "\(control.bounds.map(\.description) ?? "")"
            )
        }
    }

    /// One of V4L2's rectangles; `nil` if the driver has none.
    private func selection(_ target: Int32) throws(CaptureError) -> PixelRectangle? {
        var rectangle = clinux_v4l2_rectangle()
        if unsafe clinux_v4l2_crop(node.descriptor, UInt32(target), &rectangle) == 0 {
            return PixelRectangle(rectangle)
        }
        guard [ENODEV, ENXIO].contains(errno) else { return nil }
        throw CaptureError(.deviceLost, "the camera \(node.path) went away", errno: errno)
    }

    private func failure(_ error: SystemError, _ wanted: PixelRectangle) -> CaptureError {
        switch error.errno {
        case ENODEV, ENXIO:
            CaptureError(.deviceLost, "the camera \(node.path) went away", errno: error.errno)
        case EBUSY:
            CaptureError(
                .busy,
                "a crop of \(wanted) changes the size of the frames that \(node.path) streams; set it while nobody "
                    + "captures from the camera",
                errno: EBUSY
            )
        case ENOTTY:
            CaptureError(.invalidArgument, "the driver of \(node.path) cannot change its crop", errno: ENOTTY)
        case EINVAL, ERANGE, ENODATA:
            CaptureError(
                .invalidArgument,
                "the driver of \(node.path) refuses to crop to \(wanted)",
                errno: error.errno
            )
        default: CaptureError(.inputOutput, error)
        }
    }
}

extension PixelRectangle {
    /// What a driver says.
    fileprivate init(_ rectangle: clinux_v4l2_rectangle) {
        self.init(
            left: Int(rectangle.left),
            top: Int(rectangle.top),
            width: Int(rectangle.width),
            height: Int(rectangle.height)
        )
    }
}
