import Authorization
import CaptureCore

/// What a person wants stored of a program, in the words that it came in.
struct AnswerChange: Sendable {
    /// Whose answer; empty for the caller's own.
    var user: String
    /// The program's id.
    var program: String
    /// A service, or `library` for both of its levels.
    var service: String
    /// `authorized`, `denied` or a choice about the library.
    var answer: String
    /// How long a yes lasts.
    var lifetime = GrantLifetime.always
}
