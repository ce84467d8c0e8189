import CaptureCore

/// What happens when an answer ends by itself.
extension AuthorizationGate {
    /// Ends expired answers: removes their rows, withdraws their grants and reports it. The gate calls this at the
    /// right time by itself, and never grants on an expired answer, even before this ran. When it returns, nothing is
    /// delivered any more on what ended.
    public func endDue() async {
        endDueNow()
        await enforce()
    }

    /// Ends expired answers within the present turn. Enforcement has started when it returns.
    func endDueNow() {
        let now = now()
        let time = time(now)
        for (key, live) in allLiveGrants() {
            // By their own knowledge, so that a store which cannot be read does not lengthen them.
            guard let row = live.row, row.lifetime.moment != nil, standing(row, now, time) != .holds else { continue }
            revoke(
                user: key.user,
                program: key.program,
                service: row.service,
                path: live.client.executable?.path,
                why: end(of: row)
            )
        }
        endStored(now, time)
        endPassing()
        keepTime()
    }

    /// Ends what was never written down and is over.
    func endPassing() {
        let now = now().sinceBoot
        let over = lifetimes.passing.filter { ($0.closing ?? .max) <= now }
        lifetimes.passing.removeAll { ($0.closing ?? .max) <= now }
        for passing in over {
            let row = passing.row
            if case .program = passing.holder {
                let path = row.executable?.path
                revoke(user: row.user, program: row.program, service: row.service, path: path, why: passing.end)
            }
            tellEnd(row, passing.end)
        }
    }

    /// Looks again when the next answer ends, and every minute where one has a date, since the wall clock may be set.
    func keepTime() {
        lifetimes.waking?.cancel()
        lifetimes.waking = nil
        let now = now()
        var wait: Int64 = .max
        for passing in lifetimes.passing {
            if let closing = passing.closing { wait = min(wait, closing - now.sinceBoot) }
        }
        if let firstEnd = lifetimes.firstEnd {
            wait = min(wait, lifetimes.hasDate ? 60_000 : 600_000, max(0, firstEnd - (time(now) ?? now.wall)))
        }
        guard wait < .max else { return }
        let delay = Duration.milliseconds(max(10, wait))
        lifetimes.waking = Task { [weak self] in
            guard (try? await Task.sleep(for: delay)) != nil else { return }
            await self?.endDue()
        }
    }

    /// Removes rows that are over. A store that cannot be used keeps them, and they count for nobody; it is looked at
    /// again in a minute.
    private func endStored(_ now: AnswerTime, _ time: Int64?) {
        // While it is used, not at its end alone: the daemon may be killed before.
        if lifetimes.limits.unused != nil { noteUses() }
        let soon = (time ?? now.wall) + 60_000
        guard let rows = try? store.endingAnswers(withoutDate: lifetimes.limits.unused != nil) else {
            if let end = lifetimes.firstEnd, end <= soon - 60_000 { lifetimes.firstEnd = soon }
            return
        }
        var left: [StoredAnswer] = []
        for row in rows {
            guard standing(row, now, time) == .over, (try? store.remove(row)) == true else {
                left.append(row)
                continue
            }
            let why = end(of: row)
            revoke(user: row.user, program: row.program, service: row.service, path: row.executable?.path, why: why)
            tellEnd(row, why)
        }
        // One that is in use, or cannot be told, has its end behind it and is looked at again with the others.
        lifetimes.firstEnd = left.compactMap { row in ends(row).map { $0 > soon - 60_000 ? $0 : soon } }.min()
        lifetimes.hasDate = left.contains { $0.lifetime.moment != nil }
        // How late it is outlives the daemon, so that a clock which is set back meanwhile is noticed.
        guard lifetimes.firstEnd != nil, abs(now.sinceBoot - lifetimes.marked) >= 600_000 else { return }
        // One that cannot be written refuses every start, and says so there.
        if (try? store.mark(now.wall)) != nil { lifetimes.marked = now.sinceBoot }
    }

    private func end(of row: StoredAnswer) -> String {
        row.lifetime.moment == nil
            ? "it was not used for too long" : "its end date has passed"
    }

    private func tellEnd(_ row: StoredAnswer, _ why: String) {
        var row = row
        row.status = .notDetermined
        decide(row, .expired, "\(row.service.rawValue) of \(row.program) ended: \(why)")
    }
}
