import Authorization
import CaptureBus
import CaptureCore

/// An agent that is registered: a client that shows prompts to its user.
struct RegisteredAgent: Sendable {
    /// Its connection.
    var connection: String
    /// Its object of the Agent interface.
    var path: String
    /// The program behind the connection.
    var identity: ClientIdentity
    /// Its kind in its own words, made printable.
    var kind = ""
    /// Whether it serves just the requests of its own connection, on its own terminal.
    var isInline: Bool
    /// The order of registration; the latest is asked first.
    var order: Int
}

/// A question to put to agents.
struct AgentCall: Sendable {
    /// The method of theirs.
    var member: String
    /// Whom it is about.
    var client: ClientIdentity
    /// The program's connection; empty for one that is not there.
    var connection: String
    /// The consents that it is about.
    var services: [Service]
    /// What an answer may be about.
    var words: Set<String>
    /// What is to be picked, where that is the question.
    var picking: PickQuestion?
    /// Noted before an agent is told.
    var sight: PromptSight

    /// Whether it shows what is in the media library or has something done there, and not just asks for a consent.
    var isOfLibrary: Bool { member != "Ask" }
}
