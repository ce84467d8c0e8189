import CaptureCore

/// One section `[Rule]`: conditions, of which all that are given have to fit, and what is decided where they do.
struct PolicyRule: Hashable, Sendable {
    /// Whether a condition fits.
    enum Fit: Hashable {
        case no
        /// It cannot be told.
        case unknown
        case yes

        static func && (left: Fit, right: @autoclosure () -> Fit) -> Fit {
            if left == .no { return .no }
            let right = right()
            return right == .yes ? left : right
        }
    }

    /// A user or a group, by name or number.
    enum Account: Hashable, Sendable {
        case number(UInt32)
        case name(String)
    }

    /// Where it stands, as `file:line`.
    var place: String
    /// What it says.
    var decision = Policy.Decision.restrict
    /// The services that it is about; empty for all, as with the other conditions.
    var services: Set<Service> = []
    /// Programs, by id.
    var programs: [Glob] = []
    /// What ids are worth.
    var tiers: Set<Tier> = []
    /// Whom programs run as.
    var users: [Account] = []
    /// Groups that programs or their users are in.
    var groups: [Account] = []
    /// Units that programs run in.
    var units: [Glob] = []

    /// Whether all that it asks fits a program and a service.
    func fits(_ subject: PolicySubject, _ service: Service, _ accounts: Accounts) -> Fit {
        guard services.isEmpty || services.contains(service), tiers.isEmpty || tiers.contains(subject.tier) else {
            return .no
        }
        // Whatever a rule was read from: beforehand nobody is allowed anything but the system's units.
        if decision == .allow, subject.tier != .service { return .no }
        return fits(program: subject) && fits(unit: subject) && fits(user: subject, accounts)
            && fits(group: subject, accounts)
    }

    /// By its id. A rule for a file is meant for whatever runs the file, in an application's unit too: but to allow, the
    /// id has to be the unit's. A sandbox has files of its own.
    private func fits(program subject: PolicySubject) -> Fit {
        if programs.isEmpty || programs.contains(where: { $0.matches(subject.program) }) { return .yes }
        // A system unit that runs as a person's account goes by another id, and is no less forbidden for that.
        if decision != .allow, let unit = subject.units?.first,
            programs.contains(where: { $0.matches("unit:" + unit) })
        {
            return .yes
        }
        guard decision != .allow, subject.tier != .sandboxed,
            programs.contains(where: { $0.text.hasPrefix("exe:") })
        else { return .no }
        if subject.paths.isEmpty { return .unknown }
        return subject.paths.contains { path in programs.contains { $0.matches("exe:" + path) } } ? .yes : .no
    }

    private func fits(unit subject: PolicySubject) -> Fit {
        if units.isEmpty { return .yes }
        // The unit that the id is made of, rather than one of somebody else's that it may be in as well.
        let candidates = decision == .allow ? [String(subject.program.dropFirst("unit:".count))] : subject.units
        guard let candidates else { return .unknown }
        return units.contains { candidates.contains(where: $0.matches) } ? .yes : .no
    }

    private func fits(user subject: PolicySubject, _ accounts: Accounts) -> Fit {
        if users.isEmpty { return .yes }
        guard let user = subject.user else { return .unknown }
        return PolicyRule.strongest(
            users.lazy.map { account in
                switch account {
                case .number(let number): return number == user ? .yes : .no
                case .name(let name):
                    if case .found(let number) = accounts.user(name), number == user { return .yes }
                    // By its own name, too: where the rule's is not known, that tells them apart.
                    switch accounts.name(user) {
                    case .found(let own): return own == name ? .yes : .no
                    case .absent, .failed: return .unknown
                    }
                }
            }
        )
    }

    /// By what it connected with, and by what its user is a member of: that may have changed since the login.
    private func fits(group subject: PolicySubject, _ accounts: Accounts) -> Fit {
        if groups.isEmpty { return .yes }
        var members = subject.groups ?? []
        var isWhole = false
        if let user = subject.user, case .found(let more) = accounts.groups(user) {
            members.formUnion(more)
            isWhole = true
        }
        return PolicyRule.strongest(
            groups.lazy.map { account in
                let number: UInt32
                switch account {
                case .number(let given): number = given
                case .name(let name):
                    switch accounts.group(name) {
                    case .found(let found): number = found
                    // A group that is not there has no members.
                    case .absent: return .no
                    case .failed: return .unknown
                    }
                }
                return members.contains(number) ? .yes : isWhole ? .no : .unknown
            }
        )
    }

    private static func strongest(_ fits: some Sequence<Fit>) -> Fit {
        var strongest = Fit.no
        for fit in fits {
            if fit == .yes { return .yes }
            if fit == .unknown { strongest = .unknown }
        }
        return strongest
    }
}
