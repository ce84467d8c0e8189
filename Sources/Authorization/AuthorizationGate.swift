public import CaptureCore
import Synchronization

/// The permission to stream from devices of one service and to write their controls.
///
/// Only the gate can make one: the initializer is private to this file, so that a device cannot be opened past the gate
/// in any code that compiles. Thread-safe.
public final class Grant: Sendable {
    /// What it opens.
    public let service: Service
    /// Whom it was given to: a program's id.
    public let program: String
    /// Whose answer it rests on; 0 for the machine's.
    public let user: UInt32
    /// Where that answer comes from.
    public let basis: AnswerReason
    /// The service that was answered, or that policy allows: its own, or for adding to the library that of reading it,
    /// with which this grant ends then.
    public let source: Service
    /// Whether the answer was yes for chosen assets of the library alone.
    public let isLimited: Bool

    /// What withdrew it.
    public enum End: Hashable, Sendable {
        /// The person, policy or time: the consent is gone.
        case withdrawn
        /// Its service was switched off for everybody.
        case switchedOff
        /// Its user's session was locked, or another user sits at the machine now.
        case userAway
    }

    private let live = Atomic<Bool>(true)
    private let end = Mutex<(reason: String, kind: End)>(("", .withdrawn))

    /// Whether it still holds. Once false, it stays so.
    public var isLive: Bool { live.load(ordering: .acquiring) }

    /// Why it was withdrawn, in words; empty where the person did it, or it still holds.
    public var withdrawalReason: String { end.withLock { $0.reason } }

    /// What withdrew it; says nothing while it holds.
    public var withdrawnBy: End { end.withLock { $0.kind } }

    fileprivate init(
        service: Service,
        program: String,
        user: UInt32,
        basis: AnswerReason,
        source: Service,
        isLimited: Bool
    ) {
        self.service = service
        self.program = program
        self.user = user
        self.basis = basis
        self.source = source
        self.isLimited = isLimited
    }

    /// Withdraws it. The first reason is kept. `Enforcers.enforce` stops what rests on it.
    fileprivate func revoke(_ why: String = "", by kind: End = .withdrawn) {
        end.withLock { end in
            if isLive { end = (why, kind) }
            live.store(false, ordering: .releasing)
        }
    }
}

/// The grants that were given and hold. Part of the gate's state.
///
/// An object, since answers look at live grants even while the gate withdraws some.
final class Grants {
    /// A grant that somebody has, and that holds.
    typealias Live = (grant: Grant, given: Given)

    /// What is known of a grant that was given.
    struct Given {
        fileprivate weak var grant: Grant?
        /// Whom it was given to.
        let client: ClientIdentity
        /// Whether policy gave it, without an answer.
        let isPolicys: Bool
        /// The question that it was given for, and ends with; `nil` for a consent.
        let taking: Taking?
        /// What it rests on; `nil` where nothing is stored.
        fileprivate(set) var row: StoredAnswer?

        fileprivate var live: Live? { grant.flatMap { $0.isLive ? ($0, self) : nil } }
    }

    private var given: [ProgramKey: [Given]] = [:]
    private let enforcers: Enforcers

    init(_ enforcers: Enforcers) {
        self.enforcers = enforcers
    }

    /// Makes a grant for each of the services.
    ///
    /// - Parameter bases: The answers that they rest on.
    fileprivate func mint(
        _ counting: [Service: CountingAnswer],
        on bases: [Service: StoredAnswer] = [:],
        for client: ClientIdentity,
        _ taking: Taking? = nil
    ) -> [Service: Grant] {
        let key = AnswerKey(client).programKey
        prune(key)
        var made: [Service: Grant] = [:]
        for (service, answer) in counting {
            let row = bases[answer.source]
            let grant = Grant(
                service: service,
                program: client.program,
                user: client.answerUser,
                basis: row?.reason ?? (taking == nil ? .policy : .taking),
                source: answer.source,
                isLimited: answer.status == .limited
            )
            let isPolicys = answer.rule != nil
            let one = Given(grant: grant, client: client, isPolicys: isPolicys, taking: taking, row: row)
            given[key, default: []].append(one)
            made[service] = grant
        }
        return made
    }

    /// All that hold.
    func live() -> [Live] { given.values.joined().compactMap(\.live) }

    /// Those that hold by an answer.
    func live(on answer: StoredAnswer) -> [Live] {
        given[ProgramKey(answer), default: []].compactMap(\.live).filter { $0.grant.source == answer.service }
    }

    /// Gives the answers that live grants rest on; `change` returns `nil` for one that stays as it is.
    func updateAnswers(of isMeant: (Grant) -> Bool, _ change: (StoredAnswer) -> StoredAnswer?) {
        for key in given.keys {
            for index in given[key, default: []].indices {
                guard let live = given[key]?[index].live, isMeant(live.grant), let row = live.given.row.flatMap(change)
                else {
                    continue
                }
                given[key]?[index].row = row
            }
        }
    }

    /// Withdraws the live grants that an answer does not cover any more, and has the others rest on it.
    func settle(on row: StoredAnswer) {
        let key = ProgramKey(row)
        if row.status == .denied {
            // Policy may have given it by a rule about another service.
            return revoke(of: key) {
                $0.grant.source == row.service || ($0.grant.service == row.service && $0.given.isPolicys)
            }
        }
        if row.status == .limited {
            revoke(of: key, why: "it may now only see chosen assets of the media library") {
                $0.grant.source == row.service && !$0.grant.isLimited
            }
        }
        for index in given[key, default: []].indices
        where given[key]?[index].taking == nil && given[key]?[index].grant?.source == row.service {
            given[key]?[index].row = row
        }
    }

    /// Grants were given back, and nobody looks after them. `isShared`: a call may still have one, so it is revoked.
    func forget(_ back: [Grant], isShared: Bool = false) {
        if isShared { for grant in back { grant.revoke() } }
        for key in Set(back.map { ProgramKey(user: $0.user, program: $0.program) }) {
            given[key]?.removeAll { weak in back.contains { $0 === weak.grant } }
            prune(key)
        }
    }

    /// Withdraws the live grants that rest on an answer, and starts their enforcement.
    ///
    /// - Parameters:
    ///   - path: For a claimed program, only grants for this file; `nil` for all its files. Ignored for other programs,
    ///     whose answer holds for all their files.
    ///   - why: The reason that their holders get.
    func revoke(on answer: StoredAnswer, for path: String? = nil, why: String = "") {
        revoke(of: ProgramKey(answer), why: why) { live in
            live.grant.source == answer.service
                && (path == nil || live.given.client.tier != .claimed || live.given.client.executable?.path == path)
        }
    }

    /// Withdraws live grants of one user's programs, or of all, as far as they are meant.
    ///
    /// - Parameters:
    ///   - user: Whose; `nil` for everybody's.
    ///   - program: Whose; `nil` for every program's.
    func revoke(user: UInt32?, program: String?, why: String, where isMeant: (Live) -> Bool) {
        for key in Array(given.keys)
        where (user == nil || key.user == user) && (program == nil || key.program == program) {
            revoke(of: key, why: why, where: isMeant)
        }
    }

    private func revoke(of key: ProgramKey, why: String = "", where isMeant: (Live) -> Bool) {
        for live in given[key, default: []].compactMap(\.live) where isMeant(live) { live.grant.revoke(why) }
        enforcers.begin()
        prune(key)
    }

    /// Withdraws the live grants for which `reason` returns a reason, and starts their enforcement.
    ///
    /// - Parameters:
    ///   - kind: What the reason is.
    ///   - reason: Why a grant must go; `nil` when it may stay.
    /// - Returns: The withdrawn grants, each with its reason.
    func withdraw(by kind: Grant.End, _ reason: (Live) -> String?) -> [(live: Live, reason: String)] {
        var gone: [(live: Live, reason: String)] = []
        for entry in given.values.joined() {
            guard let live = entry.live, let why = reason(live) else { continue }
            live.grant.revoke(why, by: kind)
            gone.append((live, why))
        }
        // Before anything is written, because the disk may be slow.
        if !gone.isEmpty { enforcers.begin() }
        for key in Array(given.keys) { prune(key) }
        return gone
    }

    /// Forgets those of a program that nobody has any more.
    private func prune(_ key: ProgramKey) {
        given[key]?.removeAll { $0.grant?.isLive != true }
        if given[key]?.isEmpty == true { given[key] = nil }
    }
}

/// Decides who may capture: from the stored answer, or by asking the person. Callers that wait for the same answer
/// share one question.
///
/// The gate refuses whatever is uncertain. Each of its turns decides on what the store says in that same turn, so a
/// grant never outlives its withdrawal. A change that withdraws something takes one turn and then waits for the
/// enforcers. When it returns, nothing is delivered any more on what it withdrew.
///
/// A turn may wait for the disk, so the executor runs it on a thread of its own and never in the cooperative pool.
public actor AuthorizationGate {
    private let executor: any SerialExecutor
    /// The executor that runs its turns.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }
    /// What was decided a moment ago and stands; answers without a turn of the gate.
    public nonisolated let remembered: RememberedDecisions
    /// The enforcers, which stop what rests on withdrawn grants.
    nonisolated let enforcers = Enforcers()
    let files: ProgramFiles
    let reports: DecisionReports
    let asking: Asking
    let library: LibraryQuestions
    /// What was given and holds.
    let grants: Grants
    /// What was answered.
    var answers: Answers
    /// What is switched off.
    var switchboard: Switchboard
    /// What is with the person.
    var questions: Questions
    /// The questions by which persons take something now.
    var takings: Set<Taking> = []
    /// Looks again when the next answer ends.
    var waking: Task<Void, Never>?
    /// Who knows whether a program's user is there; `nil` where that does not matter.
    var presence: (any Presence)? { didSet { remembered.forget() } }
    /// Grows whenever that may have changed.
    var presenceRevision: UInt64 = 0 { didSet { remembered.forget() } }
    /// What is done before a program is limited to chosen assets.
    var beforeLimiting: (@Sendable (_ user: UInt32, _ program: String) async throws(CaptureError) -> Void)?

    /// A gate over a store.
    ///
    /// - Parameters:
    ///   - executor: Runs its turns, which may wait for the disk.
    ///   - aside: Starts work that may block, such as a look at a program's file.
    ///   - store: The answers.
    ///   - usage: Where programs say why they capture.
    ///   - prompter: Who asks the person.
    ///   - root: The root that paths of programs are looked for below; see `ProcessExecutable.examine`.
    ///   - policy: What the administrator has decided.
    ///   - switches: Where switches are kept; `nil` for as long as the gate lives.
    ///   - promptTimeout: How long a question stays before nobody has answered it.
    ///   - decisions: Told of every decision, in order, on the gate; must not block.
    ///   - now: What time it is.
    public init(
        executor: any SerialExecutor,
        aside runsAside: @escaping RunsAside,
        store: AuthorizationStore,
        usage: any UsageDescriptions,
        prompter: any Prompter,
        root: String = "",
        policy: Policy = Policy(),
        switches: SwitchFile? = nil,
        promptTimeout: Duration = .seconds(120),
        decisions: @escaping @Sendable (Decision) -> Void = { _ in },
        now: @escaping @Sendable () -> AnswerTime = { .now }
    ) {
        self.executor = executor
        files = ProgramFiles(runsAside: runsAside, usage: usage, prompter: prompter, root: root)
        reports = DecisionReports(decisions)
        asking = Asking(prompter: prompter, reports: reports, now: now)
        library = LibraryQuestions(files: files, prompter: prompter, reports: reports)
        remembered = RememberedDecisions(store: store, now: now)
        switchboard = Switchboard(switches, remembered: remembered)
        questions = Questions(timeout: promptTimeout, now: now)
        grants = Grants(enforcers)
        let context = AnswerContext(store: store, remembered: remembered, grants: grants, reports: reports, now: now)
        answers = Answers(context, policy: policy)
    }

    /// Gets a grant for each of the services for what a person takes by a question that stands. Asks nobody.
    ///
    /// - Throws: `notPermitted` when the question is over, and for a service that is not in it; `restricted`,
    ///   `switchedOff`, `userAway`.
    public func requestAccess(_ services: Set<Service>, for taking: Taking) async throws(CaptureError) -> [Service:
        Grant]
    {
        try await checkPresence(of: taking.client)
        guard takings.contains(taking), services.isSubset(of: taking.services) else {
            throw CaptureError(.notPermitted, "nothing more can be captured for this question")
        }
        if let refusal = switchboard.switches.refusal(services) { throw refusal }
        try answers.policy.refuseRestricted(services, to: PolicySubject(taking.client))
        let counting = services.map { ($0, CountingAnswer(status: .authorized, source: $0)) }
        return grants.mint(Dictionary(uniqueKeysWithValues: counting), for: taking.client, taking)
    }

    /// Gets a grant for each of the services, asking the person about those that were never decided.
    ///
    /// The answer is on disk before this returns. A caller whose task is cancelled stops waiting, and the question is
    /// taken away when nobody waits for it any more.
    ///
    /// - Parameters:
    ///   - services: What is needed, all or nothing.
    ///   - requester: Who asks, identified when it connected or called.
    ///   - mayAsk: False for who goes on after an interruption, with the answer that there was or not at all.
    /// - Returns: A live grant for each service.
    /// - Throws: `switchedOff`, `userAway`, `denied`, `restricted`, `missingUsageDescription`, `dismissed`, `timedOut`,
    ///   `nobodyToAsk`; `askedTooOften` where several questions came to nothing just now; `revoked` where nobody may be
    ///   asked and somebody would have to be; `notPermitted` when the identity changed or cannot be read; `inputOutput`
    ///   when the store cannot be used.
    public func requestAccess(
        _ services: Set<Service>,
        for requester: Requester,
        mayAsk: Bool = true
    ) async throws(CaptureError) -> [Service: Grant] {
        let client = requester.client
        var described: (services: Set<Service>, usage: UsageDescription)?
        do throws(CaptureError) {
            while true {
                let revision = presenceRevision
                if let absence = await absence(of: client) { throw absence }
                // The last suspension before the store is read: from here to the grant nothing can come between.
                try await requester.confirm()
                guard revision == presenceRevision else { continue }
                if let refusal = switchboard.switches.refusal(services) { throw refusal }
                let standing = try answers.refuseOrFindUndecided(services, for: client)
                if standing.undecided.isEmpty {
                    let bases = try answers.use(standing.counting, for: client)
                    let given = grants.mint(standing.counting, on: bases, for: client)
                    reports.allowed(standing.counting, for: client)
                    if standing.counting.values.allSatisfy({ $0.rule == nil }) {
                        answers.remember(granted: standing.counting, for: client)
                    }
                    return given
                }
                guard mayAsk else { throw AuthorizationGate.gone(standing.undecided) }
                if questions[AnswerKey(client)] == nil, described?.services != standing.undecided {
                    let services = standing.undecided.sorted()
                    let usage = try await files.usage(of: client, for: services, session: requester.session)
                    described = (standing.undecided, usage)
                    // Meanwhile the answer may have been given, or another caller's question may be open.
                    continue
                }
                try await asking.wait(to: standing.undecided, described?.usage, for: requester, on: self)
            }
        } catch {
            let cause: Decision.Cause =
                switch error.code {
                case .denied: .storedAnswer
                case .notPermitted: .identityChanged
                default: Task.isCancelled ? .requesterGone : Decision.Cause(error)
                }
            let isStanding = [.denied, .restricted, .switchedOff, .userAway].contains(error.code)
            let stored = isStanding ? (try? answers.statuses(services, for: client)) ?? [:] : [:]
            let words = { (service: Service) in
                "\(client.program) does not get \(service.title): \(error.message)"
            }
            reports.report(services, for: client, cause, words) { stored[$0] ?? .notDetermined }
            throw error
        }
    }
}
