/// A use of a camera or microphone now, or until a moment ago: what an indicator shows.
public struct LiveUse: Hashable, Sendable {
    /// Where a use stands.
    public enum Phase: String, Hashable, Sendable {
        /// It lasts.
        case live
        /// It has ended, and is listed for some seconds more, so that a very short one is seen.
        case ended
        /// It is listed no more.
        case gone
    }

    /// Its number, by which it is in the history.
    public var id: UInt64 = 0
    /// Where it stands.
    public var phase = Phase.live
    /// The kind of device in use, by its service of consent: `camera` or `microphone`.
    public var service = ""
    /// The device's id.
    public var device = ""
    /// The device's name.
    public var deviceName = ""
    /// The user whose program it is, by name where the daemon knows it.
    public var user = ""
    /// The program that captures.
    public var program = ""
    /// That program's name for itself; text of the program's.
    public var name = ""
    /// How sure the program's identity is.
    public var tier = ""
    /// The number of its session.
    public var session: UInt32 = 0
    /// When it began, in milliseconds since 1970.
    public var began: Int64 = 0
    /// When it ended, in milliseconds since 1970; `nil` while it lasts.
    public var ended: Int64?

    /// A use of which nothing is known.
    public init() {}
}
