public import CaptureCore

/// A stored answer.
public struct AuthorizationEntry: Hashable, Sendable {
    /// The user whose answer it is.
    public var user: String
    /// Whom it was given to.
    public var program: String
    /// What it is for.
    public var service: String
    /// The answer as it counts: restricted where policy stands above it.
    public var status: AuthorizationStatus?
    /// The answer as it was given.
    public var stored: AuthorizationStatus?
    /// The file and line by which it is restricted; empty where it is not.
    public var policy: String
    /// The service whose answer counts in place of this one, as a yes to reading the library does for adding to it; empty
    /// where its own does.
    public var follows: String = ""
    /// How sure the program's identity was.
    public var tier: String
    /// Where the answer came from: the user's answer, settings, policy.
    public var reason: String
    /// When, in seconds since 1970; 0 when it is not known.
    public var time: Int64
    /// What the program's identity was made of, in words.
    public var detail: String
    /// The file that it was given for; `nil` when it holds for any that runs under the id.
    public var file: ProgramFile?
    /// How long it holds: `always`, `until`, `connection` or `session`.
    public var lifetime: String = "always"
    /// When it ends as things stand, in milliseconds since 1970; `nil` when it does not by itself.
    public var ends: Int64?
}
