import CaptureCore
import Logging

/// What the parts of the gate that deal with answers work on.
struct AnswerContext {
    let store: AuthorizationStore
    let remembered: RememberedDecisions
    let grants: Grants
    let reports: DecisionReports
    let now: @Sendable () -> AnswerTime
}

/// The answers that count, and what they and policy come to. Part of the gate's state.
struct Answers {
    private let context: AnswerContext
    /// How long they hold.
    var lifetimes: Lifetimes
    /// What the administrator has decided.
    var policy: Policy { didSet { context.remembered.forget() } }

    init(_ context: AnswerContext, policy: Policy) {
        self.context = context
        self.policy = policy
        lifetimes = Lifetimes(context)
    }

    /// The answers that count for a client now, those that were never written down included.
    mutating func counting(for client: ClientIdentity) throws(CaptureError) -> [StoredAnswer] {
        let rows = try context.store.answers(user: client.answerUser, program: client.program)
        return lifetimes.holding(rows.filter { $0.counts(for: client) }, for: client)
    }

    /// Every answer that holds, by user, program and service; then those that are never written down.
    mutating func all() throws(CaptureError) -> [StoredAnswer] {
        lifetimes.current(try context.store.allAnswers()) { _ in true }
    }

    /// Those of a program, whichever its file.
    mutating func all(user: UInt32, program: String) throws(CaptureError) -> [StoredAnswer] {
        let user = ClientIdentity.answerUser(of: program, user: user)
        return lifetimes.current(try context.store.answers(user: user, program: program)) {
            $0.user == user && $0.program == program
        }
    }

    /// The strictest of one program's answers to each service: several can count where one holds for every file of the id.
    static func strictest(_ rows: some Sequence<StoredAnswer>) -> [Service: StoredAnswer] {
        let rank = { (row: StoredAnswer) in [.denied, .limited].firstIndex(of: row.status) ?? 2 }
        return Dictionary(rows.map { ($0.service, $0) }) { rank($1) <= rank($0) ? $1 : $0 }
    }

    /// What the answers alone say for a client; services without an answer are missing.
    mutating func answered(for client: ClientIdentity) throws(CaptureError) -> [Service: AuthorizationStatus] {
        Answers.strictest(try counting(for: client)).mapValues(\.status)
    }

    /// The same of a program that is named.
    mutating func answered(user: UInt32, program: String) throws(CaptureError) -> [Service: AuthorizationStatus] {
        Answers.strictest(try all(user: user, program: program)).mapValues(\.status)
    }

    /// What stands between a program and each of the services; one that is not determined is missing.
    mutating func statuses(
        _ services: Set<Service>,
        for client: ClientIdentity
    ) throws(CaptureError) -> [Service: AuthorizationStatus] {
        let subject = PolicySubject(client)
        let restricted = services.filter { policy.verdict(on: subject, $0).decision == .restrict }
        // Not worth a look at the store where policy says no to everything.
        let answered = restricted == services ? [:] : try answered(for: client)
        return policy.statuses(services, answered, for: subject)
    }

    /// The services that neither an answer nor policy decides, and what counts for the others.
    ///
    /// - Throws: `restricted`, naming the rules, before an answer is looked for; `denied`, naming every service that the
    ///   person said no to; `usage` when nothing is asked for.
    mutating func refuseOrFindUndecided(
        _ services: Set<Service>,
        for client: ClientIdentity
    ) throws(CaptureError) -> (undecided: Set<Service>, counting: [Service: CountingAnswer]) {
        guard !services.isEmpty else { throw CaptureError(.usage, "the request names no service") }
        let subject = PolicySubject(client)
        try policy.refuseRestricted(services, to: subject)
        let answered = try answered(for: client)
        var found: [Service: CountingAnswer] = [:]
        for service in services { found[service] = policy.counting(service, answered, for: subject) }
        log.debug(
            """
            \(client.program) of user \(client.answerUser) wants \(services.map(\.rawValue).sorted()); \
            decided: \(found.map { "\($0.key.rawValue) is \($0.value.status.word)" }.sorted())
            """
        )
        let denied = services.filter { found[$0]?.status == .denied }
        guard denied.isEmpty else { throw Answers.denied(denied, client) }
        let decided = found.filter { $0.value.status.isYes }
        return (services.subtracting(decided.keys), decided)
    }

    /// That the person said no.
    static func denied(_ services: Set<Service>, _ client: ClientIdentity) -> CaptureError {
        CaptureError(
            .denied,
            "\(client.name) (\(client.program)) was denied \(phrase(services)); to be asked again: "
                + "capturectl auth reset '\(client.program)'"
        )
    }

    /// Notes that answers are used.
    ///
    /// - Returns: The answers that allow a client its services, the ones that hold longest; services without one are
    ///   missing.
    mutating func use(
        _ counting: [Service: CountingAnswer],
        for client: ClientIdentity
    ) throws(CaptureError) -> [Service: StoredAnswer] {
        let rows = try self.counting(for: client).map { ($0.service, $0) }
        var bases = Dictionary(rows) { first, second in
            guard first.lifetime.isStored, second.lifetime.isStored else {
                return first.lifetime.isStored ? first : second
            }
            return (first.lifetime.moment ?? .max) >= (second.lifetime.moment ?? .max) ? first : second
        }
        for source in Set(counting.values.map(\.source)) {
            if let row = bases[source], let used = try lifetimes.noteUse(of: row) { bases[source] = used }
        }
        return bases
    }

    /// Keeps statuses that were found in this turn, so that they need no turn when they are asked for again.
    func remember(
        _ statuses: [Service: AuthorizationStatus],
        granted: Set<Service> = [],
        for client: ClientIdentity
    ) {
        // Nothing in the client's answers may depend on the time or on who is connected.
        guard lifetimes.isLasting,
            let rows = try? context.store.answers(user: client.answerUser, program: client.program),
            rows.allSatisfy({ $0.lifetime == .always })
        else { return }
        context.remembered.keep(statuses, granted: granted, for: client)
    }

    /// Keeps that a request for services was granted in this turn, by answers alone. Of one that is limited the status is
    /// kept alone, since a request has to tell it.
    func remember(granted counting: [Service: CountingAnswer], for client: ClientIdentity) {
        let granted = Set(counting.filter { $0.value.status == .authorized }.keys)
        remember(counting.mapValues(\.status), granted: granted, for: client)
    }

    /// What the policy says of a stored answer.
    func verdict(on answer: StoredAnswer) -> PolicyVerdict {
        policy.verdict(on: PolicySubject(answer), answer.service)
    }

    /// Every answer that holds, with what it comes to.
    mutating func listed() throws(CaptureError) -> [ListedAnswer] {
        let rows = try all()
        return rows.map { row in
            var answered = [row.service: row.status]
            if row.service == .libraryAdd {
                let reading = rows.filter {
                    $0.service == .libraryReadWrite && $0.user == row.user && $0.program == row.program
                        && $0.executableKey == row.executableKey
                }
                answered.merge(Answers.strictest(reading).mapValues(\.status)) { $1 }
            }
            let counting = policy.counting(row.service, answered, for: PolicySubject(row))
            return ListedAnswer(
                answer: row,
                status: counting.status,
                source: counting.source,
                verdict: verdict(on: row),
                ends: lifetimes.ends(row)
            )
        }
    }

    /// Puts the answers of a person on disk, and keeps those that are never written down for the clients that wait.
    ///
    /// - Throws: `inputOutput` when the store cannot be used; the answers then do not count.
    mutating func put(_ rows: [StoredAnswer], for waiters: [ClientIdentity]) throws(CaptureError) {
        try context.store.put(rows.filter(\.lifetime.isStored))
        lifetimes.keepPassing(rows.filter { !$0.lifetime.isStored }, for: waiters)
        endDue(after: rows)
        for row in rows where row.status == .denied { context.grants.revoke(on: row, for: row.executable?.path) }
    }

    /// Ends what is over after answers came that may end by themselves; returns whether they may.
    @discardableResult private mutating func endDue(after rows: [StoredAnswer]) -> Bool {
        let mayEnd = rows.contains { $0.lifetime.moment != nil } || lifetimes.limits.unused != nil
        if mayEnd { lifetimes.endDue() }
        return mayEnd
    }

    /// Whether a change would allow what is not allowed already; see `AuthorizationGate.loosens`.
    mutating func loosens(_ change: SettingChange) throws(CaptureError) -> Bool {
        let rows = try change.rows(at: context.now())
        return loosens(rows, try context.store.answers(user: change.owner, program: change.program))
    }

    private mutating func loosens(_ rows: [StoredAnswer], _ stored: [StoredAnswer]) -> Bool {
        let moment = lifetimes.moment()
        return rows.contains { row in
            guard row.status.isYes else { return false }
            guard lifetimes.limits.unused == nil, Service.ofLibrary.contains(row.service) else { return true }
            return !stored.contains { old in
                let isAsMuch =
                    old.service == row.service
                    ? old.status == .authorized || old.status == row.status
                    : row.service == .libraryAdd && old.service == .libraryReadWrite && old.status.isYes
                        // Alone it would outlast the yes that it follows from.
                        && rows.contains { $0.service == .libraryReadWrite }
                        // What is restricted counts for nothing else.
                        && verdict(on: old).decision != .restrict
                return isAsMuch && !old.isNobodys && lifetimes.standing(old, at: moment) == .holds
                    && old.executable == row.executable
                    && (old.lifetime.moment ?? .max) >= (row.lifetime.moment ?? .max)
            }
        }
    }

    /// Makes sure that a change would count; see `AuthorizationGate.checkSettable`.
    mutating func check(_ change: SettingChange) throws(CaptureError) {
        let subject = try change.subject()
        let statuses = change.statuses
        let allowed = Set(statuses.filter { $0.value.isYes }.keys)
        try policy.refuseRestricted(allowed.isEmpty ? Set(statuses.keys) : allowed, to: subject)
        guard statuses[.libraryAdd] == .denied, statuses[.libraryReadWrite] == nil,
            policy.verdict(on: subject, .libraryReadWrite).decision != .restrict,
            try answered(user: change.user, program: change.program)[.libraryReadWrite]?.isYes == true
        else { return }
        throw CaptureError(
            .invalidArgument,
            "\(change.name) may read the media library, which includes adding, so this no would have no effect; to allow "
                + "neither: capturectl auth set '\(change.name)' library none"
        )
    }

    /// Makes a change in settings, and withdraws what it does not allow; see `AuthorizationGate.set`.
    ///
    /// - Returns: Whether the answers may end by themselves.
    mutating func set(_ change: SettingChange, _ options: SettingOptions) throws(CaptureError) -> Bool {
        try check(change)
        let rows = try change.rows(at: context.now())
        let stored = try context.store.answers(user: change.owner, program: change.program)
        guard options.mayLoosen || !loosens(rows, stored) else {
            throw CaptureError(
                .notPermitted,
                "what \(change.name) may do was changed meanwhile, and this would allow it more; set it again"
            )
        }
        let news = rows.filter { row in
            let before = stored.filter { $0.service == row.service }
            return before.count != 1 || !before[0].isSetting(as: row)
        }
        if let most = options.most {
            let isAdding = rows.contains { row in
                !stored.contains { $0.service == row.service } && context.grants.live(on: row).isEmpty
            }
            if isAdding { try refuseMore(than: most, of: change.owner) }
        }
        // A yes that is said again counts from now.
        try context.store.put(rows.filter { news.contains($0) || $0.status.isYes }, replacingAll: true)
        for row in rows {
            lifetimes.removePassing(user: row.user, program: row.program, service: row.service)
            context.grants.settle(on: row)
        }
        for row in news {
            let what = "\(row.service.rawValue) of \(row.program) was set to \(row.status.word)"
            context.reports.changed(row, .settings, what, by: options.author)
        }
        return endDue(after: rows)
    }

    private func refuseMore(than most: Int, of user: UInt32) throws(CaptureError) {
        guard try context.store.settingsCount(of: user) >= most else { return }
        throw CaptureError(
            .busy,
            "this user already has \(most) answers in settings, which is the limit; forget some of them first, with: "
                + "capturectl auth reset"
        )
    }

    /// Forgets answers, and withdraws what rests on them; see `AuthorizationGate.reset`.
    mutating func reset(
        _ scope: SettingScope,
        denials: [StoredAnswer]?,
        by author: SettingsAuthor?
    ) throws(CaptureError) -> [StoredAnswer] {
        let stored = try context.store.remove(user: scope.owner, program: scope.program) { row in
            guard scope.services.contains(row.service) else { return true }
            guard row.status == .denied, let denials else { return false }
            return !denials.contains(row)
        }
        let gone = stored + removePassing(scope)
        // All of them before anything is told.
        for row in gone { context.grants.revoke(on: row) }
        for row in gone { context.reports.gone(row, .settings, "was reset", by: author) }
        return gone
    }

    /// Withdraws live grants without a change of the store; see `AuthorizationGate.withdrawUnstored`.
    mutating func withdraw(_ scope: SettingScope, isDenied: Bool) {
        _ = removePassing(scope)
        let why = "it was withdrawn, which could not be stored"
        context.grants.revoke(user: scope.owner, program: scope.program, why: why) { live in
            scope.services.contains(live.grant.source)
                || (isDenied && live.given.isPolicys && scope.services.contains(live.grant.service))
        }
    }

    private mutating func removePassing(_ scope: SettingScope) -> [StoredAnswer] {
        scope.services.sorted().flatMap {
            lifetimes.removePassing(user: scope.owner, program: scope.program, service: $0)
        }
    }
}
