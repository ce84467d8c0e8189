import CaptureBus
public import CaptureCore
import CaptureMessages

/// The device's profile: values that captured gives the device when a program first uses it, after it was plugged in and
/// after captured has started.
///
/// A profile counts for every program, so changing it takes more than the person's yes for this kind of device: the right to
/// change settings. On the system bus polkit asks for the person's password. Programs in a sandbox and services may not
/// change it.
extension CaptureDevice {
    /// The settings in the profile, by name; empty without a profile.
    ///
    /// - Throws: `CaptureError.Code.notPermitted` without a stored yes for this kind of device.
    public func profile() async throws(CaptureError) -> [ProfileSetting] {
        try CaptureDaemon.records(try await call("GetProfile").first, "GetProfile")
    }

    /// Saves values that the device has now in its profile. Later changes return to them when their programs end.
    ///
    /// - Parameter names: The controls to save, by name or number. Others in the profile stay. An empty array saves every
    ///   control that can be saved, and forgets the rest. Actions, lamps, privacy shutters, controls that the device changes
    ///   by itself and disabled ones cannot be saved.
    /// - Throws: `notPermitted` without a stored yes, without the password, and for a maker's own control that the
    ///   configuration does not name. `invalidArgument` for an unknown control and one that cannot be saved, `wrongState` while
    ///   another setting disables it, `busy` while another program has locked the device, `inputOutput` if it cannot be
    ///   written to disk.
    public func saveProfile(_ names: [String] = []) async throws(CaptureError) {
        try await change("SaveProfile", names)
    }

    /// Forgets the profile. The device keeps the values that it has now.
    ///
    /// - Parameter names: The controls to forget, by name; an empty array forgets all.
    /// - Throws: `notPermitted` as for `saveProfile`, `invalidArgument` for a name that the profile does not have,
    ///   `inputOutput` if that cannot be written to disk.
    public func forgetProfile(_ names: [String] = []) async throws(CaptureError) {
        try await change("ForgetProfile", names)
    }

    /// Calls a method that may take a person's password.
    private func change(_ member: String, _ names: [String]) async throws(CaptureError) {
        let path = CaptureNames.devicePath(id)
        let timeout = CaptureDaemon.passwordTimeout
        try await daemon.call(path, CaptureNames.device, member, [.strings(names)], timeout: timeout)
    }
}
