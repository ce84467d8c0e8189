/// How a camera or microphone is part of the machine.
public enum DeviceType: String, Hashable, Sendable, CaseIterable {
    /// Built into the machine, or the system does not say how the device is attached.
    case builtIn = "built-in"
    /// Plugged in, as by USB.
    case external
    /// A card or box whose picture comes by a cable, such as HDMI, from another device. A box that presents
    /// itself as a USB camera is `external`.
    case captureCard = "capture-card"
    /// Made by software, such as a loopback or a driver for tests.
    case virtual
    /// captured's own, which draws and beeps without hardware.
    case synthetic
}

/// Where on the machine a device is.
public enum DevicePosition: String, Hashable, Sendable, CaseIterable {
    /// Unknown; in a search any position.
    case unspecified
    /// On the side of the screen.
    case front
    /// On the side away from the screen.
    case back
    /// Not part of the machine's case.
    case external
}
