public import CaptureCore

/// What decides about a program and a service, and what a start would do now.
public struct AuthorizationExplanation: Hashable, Sendable {
    /// What a start would do.
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
    public var tier: String
    /// What it is about.
    public var service: String
    /// What stands between them.
    public var status: AuthorizationStatus
    /// The service whose answer or rule counts, as a yes to reading the library does for adding to it; empty for its own.
    public var follows: String = ""
    /// What decides: `switch`, `policy`, `answer` or `nothing`.
    public var decider: String
    /// What the rule says that counts: `restrict`, `ask` or `allow`; empty where no rule fits.
    public var policy: String
    /// That rule, as `file:line`.
    public var policySource: String
    /// What is wrong there, where everything is restricted because of it.
    public var policyFault: String
    /// Stricter rules that may fit, which depends on what is not known of a program that does not run.
    public var possibleRules: [String]
    /// The stored answer, whether it counts or not; `nil` for none.
    public var stored: AuthorizationStatus?
    /// Where the stored answer comes from.
    public var reason: String
    /// When it was given, in seconds since 1970.
    public var time: Int64
    /// What a start would do.
    public var start: Start
    /// The exit code of `capturectl` for a start that is refused; 0 otherwise.
    public var exitCode: Int32
    /// Who would be asked; empty for nobody.
    public var asks: String
    /// What a start would say, in a sentence.
    public var message: String
}
