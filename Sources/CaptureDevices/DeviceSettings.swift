public import CaptureCore

/// A device's settings, opened with a grant. Thread-safe; every call may block for as long as the driver does.
public protocol DeviceSettings: Sendable {
    /// Every setting with its value now.
    ///
    /// - Throws: `deviceLost`, or `inputOutput` if the device tells of none.
    func list() throws(CaptureError) -> [DeviceControl]

    /// Writes a setting.
    ///
    /// - Parameters:
    ///   - name: Its name, its number as text, or its label in lower case.
    ///   - value: Within its range and on its steps; any value for a button.
    /// - Throws: `invalidArgument` naming the range or the known names, or for one that can only be read; `notPermitted`
    ///   for a maker's own that the configuration does not name; `wrongState` while another setting disables it; `busy`
    ///   while the stream holds it; `deviceLost`, `inputOutput`.
    func set(_ name: String, to value: Int64) throws(CaptureError)

    /// Tells of each setting that changes, whoever changes it, until the watch is let go or the device is gone.
    ///
    /// - Parameters:
    ///   - changed: Gets the setting as it is now. Called on any thread, one call at a time; must not block, nor let go of the
    ///     watch.
    ///   - ended: Called once if the device tells of nothing any more; must not block.
    /// - Throws: `invalidArgument` for a device that does not tell, `internalFault` without a thread, `deviceLost`.
    func watch(
        _ changed: @escaping @Sendable (DeviceControl) -> Void,
        ended: @escaping @Sendable () -> Void
    ) throws(CaptureError) -> any ControlWatch
}

/// Settings that are watched. Ends when it is let go.
public protocol ControlWatch: AnyObject, Sendable {}
