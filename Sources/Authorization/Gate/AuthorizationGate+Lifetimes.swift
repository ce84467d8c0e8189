public import CaptureCore

/// How long a yes lasts, and what happens when it ends.
extension AuthorizationGate {
    /// Changes the limits. Answers that are over by the new limits have ended when this returns.
    public func setLifetimes(_ limits: LifetimeLimits) async {
        lifetimes.limits = limits
        await endDue()
    }

    /// Tells which programs are connected now, so that answers which hold until a program is closed know when it is.
    ///
    /// - Parameters:
    ///   - programs: All of them, one for each connection.
    ///   - revision: Grows with every change: an older list that comes later is not looked at.
    public func connected(_ programs: [ClientIdentity], revision: UInt64) {
        guard revision > lifetimes.revision else { return }
        lifetimes.revision = revision
        lifetimes.present = programs
        for index in lifetimes.passing.indices { setClosing(index) }
        endPassing()
        keepTime()
    }

    /// Gives back the grants of a session that is over or needs less than before.
    ///
    /// Does not wait for enforcers, because they call this.
    ///
    /// - Parameter needed: What other sessions still need, by client. Interrupted sessions count although they hold no
    ///   live grants: an answer "for this time" outlives this session if another one needs it.
    public func sessionEnded(_ given: [Grant], needed: [ClientIdentity: Set<Service>] = [:]) {
        noteUses { grant in given.contains { $0 === grant } }
        // Before anybody looks: another session that ends at the same time must not take these for live.
        forget(given)
        for index in lifetimes.passing.indices {
            let passing = lifetimes.passing[index]
            guard case .process(let holder) = passing.holder,
                given.contains(where: { grant in
                    grant.user == passing.row.user && grant.program == passing.row.program
                        && grant.source == passing.row.service
                }), needed[holder]?.contains(where: { mayRest($0, on: passing.row.service) }) != true
            else { continue }
            let others = liveGrants(user: passing.row.user, program: passing.row.program, service: passing.row.service)
            if !others.contains(where: { $0.client == holder }) { lifetimes.passing[index].closing = now().sinceBoot }
        }
        endPassing()
        keepTime()
    }

    /// The answers that count for a client now, those that were never written down included.
    func countingAnswers(for client: ClientIdentity) throws(CaptureError) -> [StoredAnswer] {
        let now = now()
        let time = time(now)
        let stored = try store.answers(user: client.answerUser, program: client.program).filter {
            $0.counts(for: client) && standing($0, now, time) == .holds
        }
        let passing = lifetimes.passing.filter { $0.counts(for: client) && ($0.closing ?? .max) > now.sinceBoot }
        return stored + passing.map(\.row)
    }

    /// The answers that may count, of those that are given, and those of the same program that were never written down.
    func current(_ rows: [StoredAnswer], alsoPassing: (StoredAnswer) -> Bool) -> [StoredAnswer] {
        let now = now()
        let time = time(now)
        let passing = lifetimes.passing.filter { ($0.closing ?? .max) > now.sinceBoot }.map(\.row)
        return rows.filter { !$0.isNobodys && standing($0, now, time) != .over } + passing.filter(alsoPassing)
    }

    /// Takes in answers that are never written down.
    func keepPassing(_ rows: [StoredAnswer], for waiters: [ClientIdentity]) {
        for row in rows {
            var holders: Set<PassingAnswer.Holder> = []
            for client in waiters {
                holders.insert(row.lifetime == .session ? .process(client) : .program(AnswerKey(client)))
            }
            for holder in holders {
                lifetimes.passing.removeAll { $0.holder == holder && $0.row.service == row.service }
                lifetimes.passing.append(PassingAnswer(holder: holder, row: row))
                setClosing(lifetimes.passing.count - 1)
            }
        }
        endPassing()
        keepTime()
    }

    /// Takes answers away that were never written down.
    func removePassing(user: UInt32?, program: String?, service: Service?) -> [StoredAnswer] {
        func isMeant(_ row: StoredAnswer) -> Bool {
            (user == nil || row.user == user) && (program == nil || row.program == program)
                && (service == nil || row.service == service)
        }
        let gone = lifetimes.passing.map(\.row).filter(isMeant)
        lifetimes.passing.removeAll { isMeant($0.row) }
        return gone
    }

    /// Notes that an answer is used, for the expiry of those that are not: at most once an hour, or in a tenth of the time
    /// that it may be unused.
    ///
    /// - Returns: Whether it was written down.
    @discardableResult func noteUse(of row: StoredAnswer) throws(CaptureError) -> Bool {
        guard row.lifetime.isStored else { return false }
        let now = now()
        let pause = min(3_600_000, (lifetimes.limits.unused ?? .max) / 10)
        if let last = row.lastUsed, last.elapsed(at: now) < pause, last.wall <= now.wall { return false }
        try store.noteUse(of: row, at: now)
        return true
    }

    /// Notes that the answers which live grants rest on are used until now: unused is what nobody captures by.
    ///
    /// A store that cannot be written lets them end the sooner.
    func noteUses(_ isMeant: (Grant) -> Bool = { _ in true }) {
        for key in grants.keys {
            for index in grants[key, default: []].indices {
                guard let live = grants[key]?[index].live, isMeant(live.grant), let row = live.row,
                    (try? noteUse(of: row)) == true
                else { continue }
                grants[key]?[index].row?.lastUsed = now()
            }
        }
    }

    /// When an answer ends as things stand, in milliseconds since 1970; `nil` when it does not by itself.
    public func ends(_ row: StoredAnswer) -> Int64? {
        let unused = lifetimes.limits.unused.flatMap { limit in
            row.status.isYes && row.lifetime.isStored ? (row.lastUsed ?? row.time).end(after: limit) : nil
        }
        return [row.lifetime.moment, unused].compactMap { $0 }.min()
    }

    func standing(_ row: StoredAnswer, _ now: AnswerTime, _ time: Int64?) -> Standing {
        var result = Standing.holds
        if let moment = row.lifetime.moment {
            result = Standing(from: row.time, until: moment, at: now, time: time)
        }
        if result == .holds, let limit = lifetimes.limits.unused, row.status.isYes, row.lifetime.isStored {
            let used = row.lastUsed ?? row.time
            result = Standing(from: used, until: used.end(after: limit), at: now, time: time)
            // What is in use is not unused, however long it has been.
            if result != .holds, !liveGrants(user: row.user, program: row.program, service: row.service).isEmpty {
                result = .holds
            }
        }
        return result
    }

    func time(_ now: AnswerTime) -> Int64? {
        clock.time(now, mark: store.latestTime)
    }

    /// Whether a service may be granted by the answer about another.
    private func mayRest(_ service: Service, on answered: Service) -> Bool {
        service == answered || (service == .libraryAdd && answered == .libraryReadWrite)
    }

    private func setClosing(_ index: Int) {
        let passing = lifetimes.passing[index]
        let isHere = lifetimes.present.contains { passing.counts(for: $0) }
        switch passing.holder {
        case .program:
            // Counted from when it was closed: a later look does not lengthen it.
            lifetimes.passing[index].closing =
                isHere ? nil : passing.closing ?? now().sinceBoot + lifetimes.limits.grace
        case .process(let holder):
            // Its session may go on without it; that it is over is told by itself.
            let row = passing.row
            let isUsed = liveGrants(user: row.user, program: row.program, service: row.service).contains {
                $0.client == holder
            }
            if !isHere, !isUsed, passing.closing == nil {
                lifetimes.passing[index].closing = now().sinceBoot + lifetimes.limits.grace
            } else if isHere {
                lifetimes.passing[index].closing = nil
            }
        }
    }
}

/// What the gate knows of the ends of answers.
struct LifetimeBook {
    var limits = LifetimeLimits()
    var passing: [PassingAnswer] = []
    /// The programs that are connected.
    var present: [ClientIdentity] = []
    var revision: UInt64 = 0
    /// Looks again when the next answer ends.
    var waking: Task<Void, Never>?
    /// When the first answer in the store ends, in milliseconds since 1970, and whether one has a date; as of the last look.
    var firstEnd: Int64?
    var hasDate = false
    /// When the time was last written down, in milliseconds since the machine started.
    var marked: Int64 = 0
}
