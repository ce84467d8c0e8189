/// What becomes of the uses of devices, as it happens; times are milliseconds since 1970.
public enum UseEvent: Sendable {
    /// These begin: they are in the history, and nothing has been captured yet.
    case began([(key: DeviceUseKey, use: DeviceUse)], Int64)
    /// These are over: nothing more is captured.
    case ended([DeviceUseKey], Int64)
}
