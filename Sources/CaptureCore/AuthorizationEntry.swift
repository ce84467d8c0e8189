/// A stored answer.
public struct AuthorizationEntry: Hashable, Sendable {
    /// The user whose answer it is.
    public var user = ""
    /// The program that it was given to.
    public var program: String
    /// The service that it is for.
    public var service = ""
    /// The effective answer: restricted if policy overrides it.
    public var status: AuthorizationStatus?
    /// The answer as it was given.
    public var stored: AuthorizationStatus?
    /// The file and line that restrict it; empty if none does.
    public var policy = ""
    /// The service whose answer counts instead of this one, as a yes to reading the library does for adding; empty if its
    /// own counts.
    public var follows = ""
    /// How sure the program's identity was.
    public var tier = ""
    /// Where the answer came from: the user's answer, settings, policy.
    public var reason = ""
    /// The reason that the program gave when the person was asked; empty if nobody was asked.
    public var usage = ""
    /// When it was given, in milliseconds since 1970; 0 when it is not known.
    public var milliseconds: Int64 = 0
    /// The evidence that the program was identified by, in words.
    public var detail = ""
    /// The file that it was given for; `nil` if it holds for any file that runs under the id.
    public var file: ProgramFile?
    /// How long it holds: `always`, `until`, `connection` or `session`.
    public var lifetime = "always"
    /// When it ends if nothing changes, in milliseconds since 1970; `nil` if it does not end by itself.
    public var ends: Int64?

    /// When it was given, in seconds since 1970; 0 when it is not known.
    public var time: Int64 { milliseconds / 1000 }
}

extension AuthorizationEntry {
    /// An answer of which nothing is known.
    public init() { self.init(program: "") }
}
