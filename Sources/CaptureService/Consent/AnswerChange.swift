import Authorization
import CaptureCore

/// An answer to store about a program, in the caller's words.
struct AnswerChange: Sendable {
    /// The user whose answer it is; empty for the caller.
    var user: String
    /// The program's id.
    var program: String
    /// A service, or `library` for both of its levels.
    var service: String
    /// `authorized`, `denied`, or a choice for the library.
    var answer: String
    /// How long a yes lasts.
    var lifetime = GrantLifetime.always
}
