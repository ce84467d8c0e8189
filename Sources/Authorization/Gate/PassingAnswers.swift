import CaptureCore

/// An answer that is never written to disk: it ends with what it was given to.
struct PassingAnswer {
    /// What it was given to.
    enum Holder: Hashable {
        /// One process, until its session has ended.
        case process(ClientIdentity)
        /// A program, until its last connection has.
        case program(AnswerKey)
    }

    var holder: Holder
    var row: StoredAnswer
    /// When it ends since its holder has no connection any more, in milliseconds since the machine started.
    var closing: Int64?

    /// Whether it counts for a client.
    func counts(for client: ClientIdentity) -> Bool {
        switch holder {
        case .process(let holder): holder == client
        case .program(let key): key == AnswerKey(client)
        }
    }

    /// Why it ended, in a sentence that follows a colon.
    var end: String {
        switch holder {
        case .process: "it was given for one session, which is over"
        case .program: "it was given until the program is closed, which it now is"
        }
    }
}

/// How long answers last, as the configuration says.
public struct LifetimeLimits: Hashable, Sendable {
    /// How long after its last connection a program still counts as open, in milliseconds.
    public var grace: Int64
    /// How long a yes lasts that is not used, in milliseconds; `nil` for ever.
    public var unused: Int64?

    /// The given limits.
    public init(grace: Int64 = 10_000, unused: Int64? = nil) {
        self.grace = grace
        self.unused = unused
    }
}
