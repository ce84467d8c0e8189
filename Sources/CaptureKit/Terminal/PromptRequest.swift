/// What an agent is asked to put to the person: who wants what, and why.
///
/// Every text in it was checked by the daemon and is made printable again by who shows it: it is the program's claim.
public struct PromptRequest: Hashable, Sendable {
    /// The secret that makes the answer count, once.
    public var cookie: String
    /// The program's id, such as `exe:/usr/bin/tool` or `unit:camera.service`.
    public var program: String
    /// How sure its identity is: `sandboxed`, `service`, `user` or `claimed`.
    public var tier: String
    /// The name that it goes by.
    public var name: String
    /// What the identity is made of, in words.
    public var detail: String
    /// What is asked for, in the order of the rows.
    public var services: [AuthorizationService]
    /// Why, in the program's words, by service.
    public var reasons: [AuthorizationService: String]
    /// The asking process.
    public var processID: UInt32
    /// Seconds until the question is withdrawn; 0 for no limit.
    public var secondsLeft: UInt32
    /// Whether `capturectl` asks for itself on its own terminal.
    public var isInline: Bool
    /// For how long a yes can be given; empty where it holds for always alone. Words as in `GrantLifetime`.
    public var lifetimes: [String] = []
    /// What may be allowed for chosen assets alone; empty where a daemon takes no such answer.
    public var limitable: [AuthorizationService] = []

    /// A request of the given properties.
    public init(
        cookie: String,
        program: String,
        tier: String,
        name: String = "",
        detail: String = "",
        services: [AuthorizationService],
        reasons: [AuthorizationService: String] = [:],
        processID: UInt32 = 0,
        secondsLeft: UInt32 = 0,
        isInline: Bool = false
    ) {
        self.cookie = cookie
        self.program = program
        self.tier = tier
        self.name = name
        self.detail = detail
        self.services = services
        self.reasons = reasons
        self.processID = processID
        self.secondsLeft = secondsLeft
        self.isInline = isInline
    }
}

/// What came of asking.
public enum PromptAnswer: Hashable, Sendable {
    /// Yes or no for every service asked for, but adding to the library where reading it was allowed; a yes holds for
    /// always.
    case answered([AuthorizationService: Bool])
    /// The same, where a yes may hold for a shorter time or for chosen assets.
    case chosen([AuthorizationService: PromptChoice])
    /// Yes or no to what a program is about to do.
    case confirmed(ConfirmRequest.Action, Bool)
    /// What the person picked from the media library.
    case picked(PickAnswer)
    /// The person closed the question: nothing is stored.
    case dismissed
    /// The question was withdrawn while it stood: there is nothing to answer any more.
    case withdrawn

    /// Answers in the words that every daemon knows, unless a yes is for a shorter time or for less.
    static func inPlainWords(_ answers: [AuthorizationService: PromptChoice]) -> PromptAnswer {
        answers.values.allSatisfy { $0 == .no || $0 == .yes(.always) }
            ? .answered(answers.mapValues { $0 != .no }) : .chosen(answers)
    }
}

/// What a person chose for one row.
public enum PromptChoice: Hashable, Sendable {
    /// No, until it is changed.
    case no
    /// Yes, for as long as it says.
    case yes(GrantLifetime)
    /// Yes, for as long as it says, for chosen assets of the library alone: where the request says that it may be limited.
    case limited(GrantLifetime)
}

extension PromptRequest {
    /// The services in the order of the questions: reading the library before adding to it, which follows from a yes.
    var rows: [AuthorizationService] {
        let others = services.filter { !AuthorizationService.ofLibrary.contains($0) }
        return others + AuthorizationService.ofLibrary.reversed().filter(services.contains)
    }

    /// What is to be asked next; `nil` when nothing is left.
    func next(after answers: [AuthorizationService: PromptChoice]) -> AuthorizationService? {
        rows.first { row in
            answers[row] == nil && !(row == .libraryAdd && PromptRequest.isYes(answers[.libraryReadWrite]))
        }
    }

    /// Whether a row was answered by a yes of any kind.
    static func isYes(_ choice: PromptChoice?) -> Bool {
        switch choice {
        case .yes, .limited: true
        case .no, nil: false
        }
    }
}
