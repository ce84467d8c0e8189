public import CaptureCore

extension AuthorizationGate {
    /// Every answer that holds, by user, program and service; then those that are never written down.
    ///
    /// - Throws: `inputOutput` when the store cannot be used.
    public func list() throws(CaptureError) -> [StoredAnswer] {
        current(try store.allAnswers()) { _ in true }
    }

    /// What settings show for a program: policy's no, then its answers (the strictest, where its files have different
    /// ones), then policy's yes.
    ///
    /// - Throws: `invalidArgument` for what is no program's id, `inputOutput` when the store cannot be used.
    public func statuses(user: UInt32, program: String) throws(CaptureError) -> [Service: AuthorizationStatus] {
        let id = try ProgramID(program)
        let subject = PolicySubject(named: id, user: id.tier.belongsToMachine ? nil : user)
        var statuses: [Service: AuthorizationStatus] = [:]
        let user = ClientIdentity.answerUser(of: program, user: user)
        let answers = current(try store.answers(user: user, program: program)) { passing in
            passing.user == user && passing.program == program
        }
        for answer in answers where statuses[answer.service] != .denied {
            statuses[answer.service] = answer.status
        }
        return combined(Service.allCases, statuses, for: subject)
    }

    /// Whether an answer would count; asked again when it is set.
    ///
    /// A yes of a person's own program is bound to its file, which the name of a unit does not tell: any of the person's
    /// programs may run in a unit of that name. It is given to the program that asks.
    ///
    /// - Throws: `restricted`, naming the file and line, where policy forbids it; `invalidArgument` for what is no id, and for
    ///   a yes of an `app:` id.
    public func checkSettable(
        user: UInt32,
        program: String,
        service: Service,
        status: AuthorizationStatus
    ) throws(CaptureError) {
        let id = try ProgramID(program)
        if case .app = id, status != .denied {
            let name = DisplayText.neutralized(program, limit: 100)
            throw CaptureError(
                .invalidArgument,
                "any file may run in a unit of the name in \(name), so that it is allowed when it asks: "
                    + "'capturectl auth reset \(name) \(service.rawValue)', then start it"
            )
        }
        try refuseRestricted([service], to: PolicySubject(named: id, user: id.tier.belongsToMachine ? nil : user))
    }

    /// Sets an answer, as the person's own decision in settings. On disk when it returns; a denial has withdrawn the live
    /// grants by then, and an open question about the same is taken away.
    ///
    /// It replaces the answers for all files of the program's id. An `exe:` id is bound to the file that is there now.
    /// Setting what stands there already is no decision, and is not told of.
    ///
    /// - Parameters:
    ///   - user: Whose answer; not looked at for `unit:` and `uid:`, whose answers are the machine's.
    ///   - program: A program's id.
    ///   - service: What it is about.
    ///   - status: `authorized` or `denied`.
    ///   - lifetime: How long a yes holds: for always, or until a moment to come.
    ///   - most: How many answers the user may have in settings; `nil` for any number.
    ///   - author: Who sets it, for the journal and the history.
    /// - Throws: `busy` where there are that many and this would be another; `restricted`, naming the file and line, where
    ///   policy forbids it and an answer would not count; `invalidArgument` for an id or status that cannot be set,
    ///   `inputOutput` when the store cannot be used.
    public func set(
        user: UInt32,
        program: String,
        service: Service,
        status: AuthorizationStatus,
        lifetime: GrantLifetime = .always,
        most: Int? = nil,
        by author: SettingsAuthor? = nil
    ) throws(CaptureError) {
        guard status == .authorized || status == .denied else {
            throw CaptureError(.invalidArgument, "an answer is set to authorized or denied, not to \(status.word)")
        }
        let time = now()
        guard lifetime == .always || (status == .authorized && (lifetime.moment ?? 0) > time.wall) else {
            throw CaptureError(
                .invalidArgument,
                status == .denied
                    ? "a no holds until it is changed, not until a date"
                    : "a yes is set for always or until a moment to come, not one that is over"
            )
        }
        let id = try ProgramID(program)
        try checkSettable(user: user, program: program, service: service, status: status)
        var executable: ExecutableFile?
        if case .executable(let path) = id {
            executable = ExecutableFile.inspect(path, below: root)
            guard executable != nil || status == .denied else {
                throw CaptureError(
                    .invalidArgument,
                    "captured finds no file \(path) to allow; one in a private folder is allowed when it asks itself"
                )
            }
        }
        let owner = ClientIdentity.answerUser(of: program, user: user)
        let row = StoredAnswer(
            user: owner,
            program: program,
            service: service,
            tier: id.tier,
            status: status,
            reason: .settings,
            time: time,
            // A denial holds for whatever file comes to lie there.
            executable: status == .denied ? nil : executable,
            detail: "set by id",
            lifetime: lifetime
        )
        let before = try store.answers(user: owner, program: program).filter { $0.service == service }
        let isNews = !before.contains { $0.isSetting(as: row) } || before.count > 1
        if before.isEmpty, let most, liveGrants(user: owner, program: program, service: service).isEmpty {
            try refuseMore(than: most, of: owner)
        }
        // A yes that is said again counts from now.
        if isNews || status == .authorized { try store.put([row], replacingAll: true) }
        _ = removePassing(user: owner, program: program, service: service)
        if status == .denied { revoke(user: owner, program: program, service: service) } else { rebase(row) }
        if isNews {
            decide(row, .settings, "\(service.rawValue) of \(program) was set to \(status.word)", by: author)
        }
        if lifetime.moment != nil || lifetimes.limits.unused != nil { endDue() }
        for (key, prompt) in prompts
        where key.user == owner && key.program == program && prompt.services.contains(service) {
            finish(key, prompt.id, .decided(prompt.services))
        }
    }

    /// Forgets answers, so that the next start asks again. On disk when it returns, and the live grants are withdrawn.
    ///
    /// - Parameters:
    ///   - user: Whose answers; `nil` for everybody's. Not looked at for `unit:` and `uid:`.
    ///   - program: A program's id; `nil` for every program.
    ///   - service: Which; `nil` for all.
    ///   - denials: Which denials may be among them; every other one stays. `nil` for all.
    ///   - author: Who forgets them, for the journal and the history.
    /// - Returns: The answers that were forgotten.
    /// - Throws: `inputOutput` when the store cannot be used.
    @discardableResult
    public func reset(
        user: UInt32?,
        program: String?,
        service: Service?,
        denials: [StoredAnswer]? = nil,
        by author: SettingsAuthor? = nil
    ) throws(CaptureError) -> [StoredAnswer] {
        var owner = user
        if let program, let user { owner = ClientIdentity.answerUser(of: program, user: user) }
        let gone =
            try store.remove(user: owner, program: program, service: service) { row in
                guard row.status == .denied, let denials else { return false }
                return !denials.contains(row)
            }
            + removePassing(user: owner, program: program, service: service)
        // All of them before anything is told.
        for row in gone { revoke(user: row.user, program: row.program, service: row.service) }
        for row in gone {
            var row = row
            row.status = .notDetermined
            decide(row, .settings, "\(row.service.rawValue) of \(row.program) was reset", by: author)
        }
        return gone
    }

    private func refuseMore(than most: Int, of user: UInt32) throws(CaptureError) {
        guard try store.settingsCount(of: user) >= most else { return }
        throw CaptureError(
            .busy,
            "this user has \(most) answers in settings already, and may have no more; forget some of them first, by: "
                + "capturectl auth reset"
        )
    }

    /// Tells the journal of a change without a request.
    func decide(
        _ row: StoredAnswer,
        _ cause: Decision.Cause,
        _ message: String,
        by author: SettingsAuthor? = nil
    ) {
        decisions(
            Decision(
                program: row.program,
                tier: row.tier,
                user: row.user,
                pid: 0,
                identity: row.detail,
                service: row.service,
                status: row.status,
                cause: cause,
                message: message,
                author: author
            )
        )
    }
}
