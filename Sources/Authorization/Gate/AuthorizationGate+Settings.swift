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
    /// - Throws: `restricted`, naming the file and line, where policy forbids it; `invalidArgument` for what is no id.
    public func checkSettable(user: UInt32, program: String, service: Service) throws(CaptureError) {
        let id = try ProgramID(program)
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
    /// - Throws: `busy` where there are that many and this would be another; `restricted`, naming the file and line, where
    ///   policy forbids it and an answer would not count; `invalidArgument` for an id or status that cannot be set,
    ///   `inputOutput` when the store cannot be used.
    public func set(
        user: UInt32,
        program: String,
        service: Service,
        status: AuthorizationStatus,
        lifetime: GrantLifetime = .always,
        most: Int? = nil
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
        try checkSettable(user: user, program: program, service: service)
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
            decide(row, .settings, "\(service.rawValue) of \(program) was set to \(status.word)")
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
    ///   - denials: Whether a no may be among them.
    /// - Returns: How many answers were forgotten.
    /// - Throws: `notPermitted` when a no is among them and may not be, `inputOutput` when the store cannot be used.
    public func reset(
        user: UInt32?,
        program: String?,
        service: Service?,
        denials: Bool = true
    ) throws(CaptureError) -> Int {
        var owner = user
        if let program, let user { owner = ClientIdentity.answerUser(of: program, user: user) }
        if !denials {
            let holds = try store.allAnswers().contains { row in
                row.status == .denied && (owner == nil || row.user == owner)
                    && (program == nil || row.program == program) && (service == nil || row.service == service)
            }
            guard !holds else {
                throw CaptureError(.notPermitted, "the person said no meanwhile, which takes a password to forget")
            }
        }
        let gone =
            try store.remove(user: owner, program: program, service: service)
            + removePassing(user: owner, program: program, service: service)
        for row in gone {
            revoke(user: row.user, program: row.program, service: row.service)
            var row = row
            row.status = .notDetermined
            decide(row, .settings, "\(row.service.rawValue) of \(row.program) was reset")
        }
        return gone.count
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
    func decide(_ row: StoredAnswer, _ cause: Decision.Cause, _ message: String) {
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
                message: message
            )
        )
    }
}
