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

/// The answers that are never written down, and the programs that are connected now. Part of the gate's state.
struct PassingAnswers {
    private let grants: Grants
    private var answers: [PassingAnswer] = []
    /// The programs that are connected.
    private var present: [ClientIdentity] = []
    private var revision: UInt64 = 0

    init(grants: Grants) {
        self.grants = grants
    }

    var isEmpty: Bool { answers.isEmpty }

    /// When the next one ends, in milliseconds since the machine started; `nil` while no end is known.
    var nextEnd: Int64? { answers.compactMap(\.closing).min() }

    /// Those that are not over.
    func holding(at now: Int64) -> [PassingAnswer] {
        answers.filter { ($0.closing ?? .max) > now }
    }

    /// - Returns: False for a list that is older than the last one, which changes nothing.
    mutating func connected(_ programs: [ClientIdentity], revision: UInt64, at now: Int64, grace: Int64) -> Bool {
        guard revision > self.revision else { return false }
        self.revision = revision
        present = programs
        for index in answers.indices { setClosing(index, now, grace) }
        return true
    }

    /// Ends those that were given to a session, unless its holder still needs them elsewhere.
    mutating func sessionEnded(_ given: [Grant], needed: [ClientIdentity: Set<Service>], at now: Int64) {
        for index in answers.indices {
            let row = answers[index].row
            guard case .process(let holder) = answers[index].holder,
                given.contains(where: { $0.user == row.user && $0.program == row.program && $0.source == row.service }),
                needed[holder]?.contains(where: { mayRest($0, on: row.service) }) != true
            else { continue }
            if !isUsed(row, by: holder) { answers[index].closing = now }
        }
    }

    mutating func keep(_ rows: [StoredAnswer], for waiters: [ClientIdentity], at now: Int64, grace: Int64) {
        for row in rows {
            for holder in Set(
                waiters.map { row.lifetime == .session ? PassingAnswer.Holder.process($0) : .program(AnswerKey($0)) }
            ) {
                answers.removeAll { $0.holder == holder && $0.row.service == row.service }
                answers.append(PassingAnswer(holder: holder, row: row))
                setClosing(answers.count - 1, now, grace)
            }
        }
    }

    /// Takes answers away; `nil` means every user or program.
    mutating func remove(user: UInt32?, program: String?, service: Service) -> [StoredAnswer] {
        func isMeant(_ row: StoredAnswer) -> Bool {
            (user == nil || row.user == user) && (program == nil || row.program == program) && row.service == service
        }
        let gone = answers.map(\.row).filter(isMeant)
        answers.removeAll { isMeant($0.row) }
        return gone
    }

    /// Takes away those that are over.
    mutating func takeOver(at now: Int64) -> [PassingAnswer] {
        let over = answers.filter { ($0.closing ?? .max) <= now }
        answers.removeAll { ($0.closing ?? .max) <= now }
        return over
    }

    private mutating func setClosing(_ index: Int, _ now: Int64, _ grace: Int64) {
        let passing = answers[index]
        if present.contains(where: passing.counts(for:)) {
            answers[index].closing = nil
            return
        }
        // Its session may go on without its process; that it is over is told by itself.
        if case .process(let holder) = passing.holder, isUsed(passing.row, by: holder) { return }
        // Counted from when it was closed: a later look does not lengthen it.
        answers[index].closing = passing.closing ?? now + grace
    }

    private func isUsed(_ row: StoredAnswer, by holder: ClientIdentity) -> Bool {
        grants.live(on: row).contains { $0.given.client == holder }
    }

    /// Whether a service may be granted by the answer about another.
    private func mayRest(_ service: Service, on answered: Service) -> Bool {
        service == answered || (service == .libraryAdd && answered == .libraryReadWrite)
    }
}
