import CaptureCore

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

/// How long answers hold, and what happens when one ends by itself. Part of the gate's state.
struct Lifetimes {
    /// A moment on both clocks, and what time it is at least; `nil` while the wall clock is behind what it was.
    typealias Moment = (now: AnswerTime, time: Int64?)

    private let context: AnswerContext
    private var clock = ClockGuard()
    private var passing: PassingAnswers { didSet { context.remembered.forget() } }
    /// When the first answer in the store ends, in milliseconds since 1970, and whether one has a date; as of the last look.
    private var firstEnd: Int64?
    private var hasDate = false
    /// When the time was last written down, in milliseconds since the machine started.
    private var marked: Int64 = 0
    /// What the configuration says.
    var limits = LifetimeLimits() { didSet { context.remembered.forget() } }

    init(_ context: AnswerContext) {
        self.context = context
        passing = PassingAnswers(grants: context.grants)
    }

    /// Whether no answer depends on who is connected, or ends because it is not used.
    var isLasting: Bool { limits.unused == nil && passing.isEmpty }

    /// Those of a client's stored answers that hold, and the ones that were never written down.
    mutating func holding(_ rows: [StoredAnswer], for client: ClientIdentity) -> [StoredAnswer] {
        let moment = moment()
        return rows.filter { standing($0, at: moment) == .holds }
            + passing.holding(at: moment.now.sinceBoot).filter { $0.counts(for: client) }.map(\.row)
    }

    /// The answers that may count, of those that are given, and those of the same program that were never written down.
    mutating func current(_ rows: [StoredAnswer], alsoPassing: (StoredAnswer) -> Bool) -> [StoredAnswer] {
        let moment = moment()
        return rows.filter { !$0.isNobodys && standing($0, at: moment) != .over }
            + passing.holding(at: moment.now.sinceBoot).map(\.row).filter(alsoPassing)
    }

    mutating func moment() -> Moment {
        let now = context.now()
        return (now, clock.time(now, mark: context.store.latestTime))
    }

    func standing(_ row: StoredAnswer, at moment: Moment) -> Standing {
        if let end = row.lifetime.moment {
            let result = Standing(from: row.time, until: end, at: moment.now, time: moment.time)
            if result != .holds { return result }
        }
        guard let limit = limits.unused, row.status.isYes, row.lifetime.isStored else { return .holds }
        let used = row.lastUsed ?? row.time
        let result = Standing(from: used, until: used.end(after: limit), at: moment.now, time: moment.time)
        // What is in use is not unused, however long it has been.
        return result == .holds || context.grants.live(on: row).isEmpty ? result : .holds
    }

    /// When an answer ends as things stand, in milliseconds since 1970; `nil` when it does not by itself.
    func ends(_ row: StoredAnswer) -> Int64? {
        let unused = limits.unused.flatMap { limit in
            row.status.isYes && row.lifetime.isStored ? (row.lastUsed ?? row.time).end(after: limit) : nil
        }
        return [row.lifetime.moment, unused].compactMap { $0 }.min()
    }

    /// Notes that an answer is used, for the expiry of those that are not: at most once an hour, or in a tenth of the time
    /// that it may be unused.
    ///
    /// - Returns: The answer with its use; `nil` if that was not written down.
    @discardableResult func noteUse(of row: StoredAnswer) throws(CaptureError) -> StoredAnswer? {
        guard row.lifetime.isStored else { return nil }
        let now = context.now()
        let pause = min(3_600_000, (limits.unused ?? .max) / 10)
        if let last = row.lastUsed, last.elapsed(at: now) < pause, last.wall <= now.wall { return nil }
        try context.store.noteUse(of: row, at: now)
        var row = row
        row.lastUsed = now
        return row
    }

    /// Notes that the answers which live grants rest on are used until now: unused is what nobody captures by.
    ///
    /// A store that cannot be written lets them end the sooner.
    private func noteUses(_ isMeant: (Grant) -> Bool = { _ in true }) {
        context.grants.updateAnswers(of: isMeant) { try? noteUse(of: $0) }
    }

    /// Takes in which programs are connected; see `AuthorizationGate.connected`.
    ///
    /// - Returns: False for a list that is older than the last one, which changes nothing.
    mutating func connected(_ programs: [ClientIdentity], revision: UInt64) -> Bool {
        let isNews = passing.connected(programs, revision: revision, at: context.now().sinceBoot, grace: limits.grace)
        if isNews { endPassing() }
        return isNews
    }

    /// Takes back the grants of a session; see `AuthorizationGate.sessionEnded`.
    mutating func sessionEnded(_ given: [Grant], needed: [ClientIdentity: Set<Service>], isShared: Bool) {
        noteUses { grant in given.contains { $0 === grant } }
        // Before anybody looks: another session that ends at the same time must not take these for live.
        context.grants.forget(given, isShared: isShared)
        passing.sessionEnded(given, needed: needed, at: context.now().sinceBoot)
        endPassing()
    }

    /// Takes in answers that are never written down.
    mutating func keepPassing(_ rows: [StoredAnswer], for waiters: [ClientIdentity]) {
        passing.keep(rows, for: waiters, at: context.now().sinceBoot, grace: limits.grace)
        endPassing()
    }

    /// Takes answers away that were never written down.
    @discardableResult
    mutating func removePassing(user: UInt32?, program: String?, service: Service) -> [StoredAnswer] {
        passing.remove(user: user, program: program, service: service)
    }

    /// Ends expired answers. Enforcement has started when it returns.
    mutating func endDue() {
        let moment = moment()
        for live in context.grants.live() {
            // By their own knowledge, so that a store which cannot be read does not lengthen them.
            guard let row = live.given.row, row.lifetime.moment != nil, standing(row, at: moment) != .holds else {
                continue
            }
            context.grants.revoke(on: row, for: live.given.client.executable?.path, why: end(of: row))
        }
        endStored(moment)
        endPassing()
    }

    /// How long until the next answer ends, and a minute at most where one has a date, since the wall clock may be set;
    /// `nil` when no answer ends by itself.
    mutating func nextLook() -> Duration? {
        let (now, time) = moment()
        var wait = passing.nextEnd.map { $0 - now.sinceBoot } ?? .max
        if let firstEnd { wait = min(wait, hasDate ? 60_000 : 600_000, max(0, firstEnd - (time ?? now.wall))) }
        return wait < .max ? .milliseconds(max(10, wait)) : nil
    }

    private mutating func endPassing() {
        for passing in passing.takeOver(at: context.now().sinceBoot) {
            let row = passing.row
            if case .program = passing.holder {
                context.grants.revoke(on: row, for: row.executable?.path, why: passing.end)
            }
            context.reports.gone(row, .expired, "ended: \(passing.end)")
        }
    }

    /// Removes rows that are over. A store that cannot be used keeps them, and they count for nobody; it is looked at
    /// again in a minute.
    private mutating func endStored(_ moment: Moment) {
        // While it is used, not at its end alone: the daemon may be killed before.
        if limits.unused != nil { noteUses() }
        let now = moment.now
        let soon = (moment.time ?? now.wall) + 60_000
        guard let rows = try? context.store.endingAnswers(withoutDate: limits.unused != nil) else {
            if let end = firstEnd, end <= soon - 60_000 { firstEnd = soon }
            return
        }
        var left: [StoredAnswer] = []
        for row in rows {
            guard standing(row, at: moment) == .over, (try? context.store.remove(row)) == true else {
                left.append(row)
                continue
            }
            let why = end(of: row)
            context.grants.revoke(on: row, for: row.executable?.path, why: why)
            context.reports.gone(row, .expired, "ended: \(why)")
        }
        // One that is in use, or cannot be told, has its end behind it and is looked at again with the others.
        firstEnd = left.compactMap { row in ends(row).map { $0 > soon - 60_000 ? $0 : soon } }.min()
        hasDate = left.contains { $0.lifetime.moment != nil }
        // How late it is outlives the daemon, so that a clock which is set back meanwhile is noticed.
        guard firstEnd != nil, abs(now.sinceBoot - marked) >= 600_000 else { return }
        // One that cannot be written refuses every start, and says so there.
        if (try? context.store.mark(now.wall)) != nil { marked = now.sinceBoot }
    }

    private func end(of row: StoredAnswer) -> String {
        row.lifetime.moment == nil
            ? "it was not used for too long" : "its end date has passed"
    }
}
