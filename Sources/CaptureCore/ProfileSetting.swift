/// A setting in a device's profile: a value that captured gives the device when it opens it for the first time.
public struct ProfileSetting: Hashable, Sendable {
    /// The control's name, as in `focus_absolute`.
    public var name = ""
    /// The value that was saved.
    public var value: Int64 = 0
    /// Why the device did not get the value when it was opened; `nil` if it got it, or was not opened yet.
    public var fault: String?

    /// A setting of which nothing is known.
    public init() {}

    /// A setting with a value.
    public init(name: String, value: Int64, fault: String? = nil) {
        self.name = name
        self.value = value
        self.fault = fault
    }
}
