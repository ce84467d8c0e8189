/// The decision about a program and a service, its grounds, and the result that a start would have now.
public struct AuthorizationExplanation: Hashable, Sendable {
    /// The result of a start.
    public enum Start: String, Hashable, Sendable {
        /// Capture, without a question.
        case starts
        /// Ask the person.
        case asks
        /// Fail.
        case refused
    }

    /// The program.
    public var program: String
    /// How sure its identity is, or would be.
    public var tier = ""
    /// The service.
    public var service = ""
    /// The program's status for the service.
    public var status = AuthorizationStatus.notDetermined
    /// The service whose answer or rule counts, as a yes to reading the library does for adding to it; empty for its own.
    public var follows = ""
    /// The ground of the decision: `switch`, `policy`, `answer` or `nothing`.
    public var decider = ""
    /// The decision of the rule that counts: `restrict`, `ask` or `allow`; empty if no rule matches.
    public var policy = ""
    /// That rule, as `file:line`.
    public var policySource = ""
    /// The fault in the policy, if everything is restricted for that reason.
    public var policyFault = ""
    /// Stricter rules that may match, depending on facts that are unknown while the program does not run.
    public var possibleRules: [String] = []
    /// The stored answer, even if it does not count; `nil` for none.
    public var stored: AuthorizationStatus?
    /// Where the stored answer comes from.
    public var reason = ""
    /// When it was given, in milliseconds since 1970.
    public var milliseconds: Int64 = 0
    /// How long the stored answer holds: `always`, `until`, `connection` or `session`; empty without an answer.
    public var lifetime = ""
    /// When it ends as things stand, in milliseconds since 1970; `nil` for no known end.
    public var ends: Int64?
    /// The result that a start would have.
    public var start = Start.refused
    /// The exit code of `capturectl` for a refused start; 0 otherwise.
    public var exitCode: Int32 = 0
    /// The one who would be asked; empty if nobody would be.
    public var asks = ""
    /// The message that a start would give, in a sentence.
    public var message = ""

    /// When the stored answer was given, in seconds since 1970.
    public var time: Int64 { milliseconds / 1000 }
}

extension AuthorizationExplanation {
    /// One that explains nothing.
    public init() { self.init(program: "") }
}
