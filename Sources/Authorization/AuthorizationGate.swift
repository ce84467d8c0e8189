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

    /// Withdraws it. The first reason is kept. `AuthorizationGate.enforce` stops what rests on it.
    fileprivate func revoke(_ why: String = "", by kind: End = .withdrawn) {
        end.withLock { end in
            if isLive { end = (why, kind) }
            live.store(false, ordering: .releasing)
        }
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
    let store: AuthorizationStore
    let usage: any UsageDescriptions
    let runsAside: RunsAside
    let prompter: any Prompter
    let root: String
    /// What the administrator has decided; changed by `setPolicy`.
    var policy: Policy { didSet { remembered.forget() } }
    /// What is switched off; changed by `setSwitch`.
    var switches: Switches { didSet { remembered.forget() } }
    let switchFile: SwitchFile?
    var promptTimeout: Duration
    let decisions: @Sendable (Decision) -> Void
    let now: @Sendable () -> AnswerTime
    var lifetimes = LifetimeBook() { didSet { remembered.forget() } }
    var clock = ClockGuard()
    /// Who knows whether a program's user is there; `nil` where that does not matter.
    var presence: (any Presence)? { didSet { remembered.forget() } }
    /// Grows whenever that may have changed.
    var presenceRevision: UInt64 = 0 { didSet { remembered.forget() } }

    var prompts: [AnswerKey: OpenPrompt] = [:]
    var book = PromptBook()
    /// What is done before a program is limited to chosen assets.
    var beforeLimiting: (@Sendable (_ user: UInt32, _ program: String) async throws(CaptureError) -> Void)?
    /// The programs that the person is asked to confirm or to pick something for.
    var confirming: Set<ProgramKey> = []
    var grants: [ProgramKey: [WeakGrant]] = [:]
    private var lastNumber: UInt64 = 0

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
        self.runsAside = runsAside
        self.store = store
        remembered = RememberedDecisions(store: store, now: now)
        self.usage = usage
        self.prompter = prompter
        self.root = root
        self.policy = policy
        switchFile = switches
        self.switches = switches?.load() ?? Switches()
        self.promptTimeout = promptTimeout
        self.decisions = decisions
        self.now = now
    }

    /// Has something done each time that a program which was not is limited to chosen assets of the media library by an
    /// answer, before that counts; what it throws keeps the answer from counting.
    public func beforeLimiting(
        _ handler: @escaping @Sendable (_ user: UInt32, _ program: String) async throws(CaptureError) -> Void
    ) {
        beforeLimiting = handler
    }

    /// Changes how long a question stays; those that are open keep their time.
    public func setPromptTimeout(_ timeout: Duration) {
        promptTimeout = timeout
    }

    /// What stands between a program and a service now. Never prompts.
    ///
    /// - Throws: `inputOutput` when the store cannot be used, which is not looked at for what policy forbids.
    public func status(_ service: Service, for client: ClientIdentity) throws(CaptureError) -> AuthorizationStatus {
        let status = try statuses([service], for: client)[service] ?? .notDetermined
        remember([service: status], for: client)
        return status
    }

    /// Gets a grant for each of the services, asking the person about those that were never decided.
    ///
    /// The answer is on disk before this returns. A caller whose task is cancelled stops waiting, and the question is
    /// taken away when nobody waits for it any more.
    ///
    /// - Parameters:
    ///   - services: What is needed, all or nothing.
    ///   - client: Who asks, identified when it connected or called.
    ///   - session: The login session to ask in, handed through to the prompter.
    ///   - mayAsk: False for who goes on after an interruption, with the answer that there was or not at all.
    ///   - again: Identifies the same connection once more; a difference refuses.
    /// - Returns: A live grant for each service.
    /// - Throws: `switchedOff`, `userAway`, `denied`, `restricted`, `missingUsageDescription`, `dismissed`, `timedOut`,
    ///   `nobodyToAsk`; `askedTooOften` where several questions came to nothing just now; `revoked` where nobody may be
    ///   asked and somebody would have to be; `notPermitted` when the identity changed or cannot be read; `inputOutput`
    ///   when the store cannot be used.
    public func requestAccess(
        _ services: Set<Service>,
        for client: ClientIdentity,
        session: String,
        mayAsk: Bool = true,
        again: @escaping @Sendable () async throws(CaptureError) -> ClientIdentity
    ) async throws(CaptureError) -> [Service: Grant] {
        var described: (services: Set<Service>, usage: UsageDescription)?
        do throws(CaptureError) {
            while true {
                let revision = presenceRevision
                if let absence = await absence(of: client) { throw absence }
                // The last suspension before the store is read: from here to the grant nothing can come between.
                try await confirm(client, again)
                guard revision == presenceRevision else { continue }
                if let refusal = switches.refusal(services) { throw refusal }
                let standing = try refuseOrFindUndecided(services, for: client)
                if standing.undecided.isEmpty {
                    let given = try mint(standing.counting, for: client)
                    reportAllowed(standing.counting, for: client)
                    if standing.counting.values.allSatisfy({ $0.rule == nil }) {
                        remember(granted: standing.counting, for: client)
                    }
                    return given
                }
                guard mayAsk else { throw AuthorizationGate.gone(standing.undecided) }
                if prompts[AnswerKey(client)] == nil, described?.services != standing.undecided {
                    let services = standing.undecided
                    described = (services, try await usage(of: client, for: services.sorted(), session: session))
                    // Meanwhile the answer may have been given, or another caller's question may be open.
                    continue
                }
                try await waitForAnswer(
                    to: standing.undecided,
                    described?.usage,
                    for: client,
                    session: session,
                    again: again
                )
            }
        } catch {
            let cause: Decision.Cause =
                switch error.code {
                case .denied: .storedAnswer
                case .notPermitted: .identityChanged
                default: Task.isCancelled ? .requesterGone : Decision.Cause(error)
                }
            let isStanding = [.denied, .restricted, .switchedOff, .userAway].contains(error.code)
            let stored = isStanding ? (try? statuses(services, for: client)) ?? [:] : [:]
            let words = { (service: Service) in
                "\(client.program) does not get \(service.title): \(error.message)"
            }
            report(services, for: client, cause, words) { stored[$0] ?? .notDetermined }
            throw error
        }
    }

    /// Withdraws a program's live grants that rest on its answer about a service, and starts their enforcement.
    ///
    /// - Parameters:
    ///   - path: For a claimed program, only grants for this file; `nil` for all its files. Ignored for other programs,
    ///     whose answer holds for all their files.
    ///   - why: The reason that their holders get.
    func revoke(user: UInt32, program: String, service: Service, path: String? = nil, why: String = "") {
        let key = ProgramKey(user: user, program: program)
        let those = (grants[key] ?? []).filter { given in
            path == nil || given.client.tier != .claimed || given.client.executable?.path == path
        }
        for grant in those.compactMap(\.grant) where grant.source == service { grant.revoke(why) }
        enforcers.begin()
        prune(key)
    }

    /// Withdraws the live grants of a program that `isMeant` picks, and starts their enforcement.
    func revoke(of key: ProgramKey, why: String = "", where isMeant: (Grant, WeakGrant) -> Bool) {
        for given in grants[key] ?? [] {
            if let grant = given.grant, isMeant(grant, given) { grant.revoke(why) }
        }
        enforcers.begin()
        prune(key)
    }

    /// Withdraws the live grants for which `reason` returns a reason, and starts their enforcement.
    ///
    /// - Parameters:
    ///   - kind: What the reason is.
    ///   - reason: Why a grant must go; `nil` when it may stay. It is told whether policy gave the grant without an
    ///     answer.
    /// - Returns: The withdrawn grants, each with its reason.
    func withdraw(
        by kind: Grant.End = .withdrawn,
        _ reason: (_ client: ClientIdentity, _ grant: Grant, _ isPolicys: Bool) -> String?
    ) -> [(client: ClientIdentity, service: Service, reason: String)] {
        var gone: [(client: ClientIdentity, service: Service, reason: String)] = []
        var used: [StoredAnswer] = []
        for entry in grants.values.joined() {
            guard let grant = entry.grant, grant.isLive,
                let why = reason(entry.client, grant, entry.isPolicys)
            else { continue }
            grant.revoke(why, by: kind)
            gone.append((entry.client, grant.service, why))
            if let row = entry.row { used.append(row) }
        }
        // Before anything is written, because the disk may be slow.
        if !gone.isEmpty { enforcers.begin() }
        // Interrupted uses count as used until now, because they may go on later. If the disk cannot be written,
        // answers merely expire sooner.
        if kind != .withdrawn { for row in used { _ = try? noteUse(of: row) } }
        for key in Array(grants.keys) { prune(key) }
        return gone
    }

    /// A number that was never given before.
    func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    private func mint(
        _ counting: [Service: CountingAnswer],
        for client: ClientIdentity
    ) throws(CaptureError) -> [Service: Grant] {
        let key = ProgramKey(user: client.answerUser, program: client.program)
        prune(key)
        var bases = try bases(for: client)
        for source in Set(counting.values.map(\.source)) {
            if let row = bases[source], try noteUse(of: row) { bases[source]?.lastUsed = now() }
        }
        var made: [Service: Grant] = [:]
        for (service, answer) in counting {
            let row = bases[answer.source]
            let grant = Grant(
                service: service,
                program: client.program,
                user: client.answerUser,
                basis: row?.reason ?? .policy,
                source: answer.source,
                isLimited: answer.status == .limited
            )
            let isPolicys = answer.rule != nil
            grants[key, default: []].append(WeakGrant(grant: grant, client: client, isPolicys: isPolicys, row: row))
            made[service] = grant
        }
        return made
    }
}
