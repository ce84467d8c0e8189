/// Whom a rule is held against: a program that runs, or one that is only named.
struct PolicySubject: Hashable, Sendable {
    /// Its id.
    var program: String
    /// What the id is worth.
    var tier: Tier
    /// The uid that it runs as; `nil` when that is not known.
    var user: UInt32?
    /// The groups that it connected with; `nil` when they are not known.
    var groups: Set<UInt32>?
    /// The units that it runs in; `nil` when they are not known.
    var units: [String]?
    /// The files that it runs, as the rest of the system sees them: a script and its interpreter are two. Empty when that
    /// is not known.
    var paths: [String]
    /// Whether it runs, so that nothing more will be known of it.
    var isRunning: Bool

    /// A program that runs.
    init(_ client: ClientIdentity) {
        program = client.program
        tier = client.tier
        user = client.user
        groups = client.groups.isEmpty ? nil : Set(client.groups)
        units = client.units.isEmpty ? nil : client.units
        paths = client.files.map(\.path)
        isRunning = true
    }

    /// A program that is only named.
    ///
    /// - Parameters:
    ///   - program: Its id.
    ///   - user: Whom it would run as; not looked at for `uid:`, which says it.
    init(named program: ProgramID, user: UInt32?) {
        self.program = program.text
        tier = program.tier
        self.user = user
        paths = []
        isRunning = false
        take(program)
    }

    /// Whose answer it was.
    init(_ answer: StoredAnswer) {
        program = answer.program
        tier = answer.tier
        user = answer.tier.belongsToMachine ? nil : answer.user
        paths = answer.executable.map { [$0.path] } ?? []
        isRunning = false
        if let id = try? ProgramID(program) { take(id) }
    }

    /// Takes what an id says besides.
    private mutating func take(_ program: ProgramID) {
        switch program {
        case .user(let number): user = number
        case .unit(let name): units = [name]
        case .executable(let file): paths = [file]
        case .flatpak, .snap, .app: break
        }
    }
}
