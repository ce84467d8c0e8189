/// The names by which the daemon is found.
public enum CaptureNames {
    /// The well-known name on the bus.
    public static let service = "org.capturekit.Capture1"
    /// The object of the manager and of authorization.
    public static let root = "/org/capturekit/Capture1"
    /// Above the sessions.
    public static let sessions = root + "/sessions"
    /// Above the devices.
    public static let devices = root + "/devices"
    /// Where a client puts its agent, unless it chooses another path.
    public static let agent = root + "/agent"

    /// Devices, sessions, health.
    public static let manager = service + ".Manager"
    /// Consent.
    public static let authorization = service + ".Authorization"
    /// The media library.
    public static let library = service + ".Library"
    /// One session.
    public static let session = service + ".Session"
    /// One device.
    public static let device = service + ".Device"
    /// Who asks the person; implemented by clients.
    public static let agentInterface = service + ".Agent"

    /// The bus itself.
    public static let bus = "org.freedesktop.DBus"
    /// The bus's object.
    public static let busPath = "/org/freedesktop/DBus"
    /// The standard interface of properties.
    public static let properties = "org.freedesktop.DBus.Properties"
}
