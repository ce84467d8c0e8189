public import CaptureCore

/// What an answer in settings is beside what it says.
public struct SettingOptions: Hashable, Sendable {
    /// How long a yes holds: for always, or until a moment to come.
    public var lifetime: GrantLifetime
    /// How many answers the user may have in settings; `nil` for any number.
    public var most: Int?
    /// Whether it may allow what is not allowed already.
    public var mayLoosen: Bool
    /// Who sets it, for the journal and the history.
    public var author: SettingsAuthor?
    /// Whether to wait until files that end by this change are finished.
    public var awaitsFiles: Bool

    /// Options of the given values.
    public init(
        lifetime: GrantLifetime = .always,
        most: Int? = nil,
        mayLoosen: Bool = true,
        author: SettingsAuthor? = nil,
        awaitsFiles: Bool = true
    ) {
        self.lifetime = lifetime
        self.most = most
        self.mayLoosen = mayLoosen
        self.author = author
        self.awaitsFiles = awaitsFiles
    }
}

extension AuthorizationGate {
    /// Sets an answer, as `set` of several does.
    public func set(
        user: UInt32,
        program: String,
        service: Service,
        status: AuthorizationStatus,
        lifetime: GrantLifetime = .always,
        most: Int? = nil,
        by author: SettingsAuthor? = nil
    ) async throws(CaptureError) {
        let options = SettingOptions(lifetime: lifetime, most: most, author: author)
        try await set(user: user, program: program, [service: status], options)
    }

    /// Sets answers, as the person's own decision in settings. When it returns, all are on disk, or none. By then, what
    /// is no longer allowed has been withdrawn, nothing is delivered on it any more, and open questions about the same
    /// services are gone.
    ///
    /// They replace the answers for all files of the program's id. An `exe:` id is bound to the file that is there now.
    /// Setting what stands there already is no decision, and is not told of.
    ///
    /// - Parameters:
    ///   - user: Whose answers; not looked at for `unit:` and `uid:`, whose answers are the machine's.
    ///   - program: A program's id.
    ///   - statuses: `authorized` or `denied` by service, `limited` too for reading the library.
    /// - Throws: As `checkSettable`; `busy` where the user has as many answers as it may and this would be another;
    ///   `notPermitted` for what would allow more, where it may not; `invalidArgument` for a lifetime that does not fit or
    ///   an executable that is not there; `inputOutput` when the store cannot be used.
    public func set(
        user: UInt32,
        program: String,
        _ statuses: [Service: AuthorizationStatus],
        _ options: SettingOptions = SettingOptions()
    ) async throws(CaptureError) {
        // A change that only tightens does not wait for a file.
        let isYes = statuses.values.contains(where: \.isYes)
        let file = isYes ? try await file(of: program) : nil
        try setNow(user: user, program: program, statuses, options, file: file)
        await enforce(awaitingFiles: options.awaitsFiles)
    }

    private func setNow(
        user: UInt32,
        program: String,
        _ statuses: [Service: AuthorizationStatus],
        _ options: SettingOptions,
        file: ExecutableFile?
    ) throws(CaptureError) {
        try checkSettable(user: user, program: program, statuses)
        let rows = try rows(user: user, program: program, statuses, options.lifetime, file: file)
        let owner = ClientIdentity.answerUser(of: program, user: user)
        let stored = try store.answers(user: owner, program: program)
        guard options.mayLoosen || !loosens(rows, stored) else {
            throw CaptureError(
                .notPermitted,
                "what \(DisplayText.neutralized(program, limit: 100)) may do was changed meanwhile, and this would allow it "
                    + "more; set it again"
            )
        }
        let news = rows.filter { row in
            let before = stored.filter { $0.service == row.service }
            return before.count != 1 || !before[0].isSetting(as: row)
        }
        if let most = options.most {
            let added = rows.filter { row in
                !stored.contains { $0.service == row.service }
                    && liveGrants(user: owner, program: program, service: row.service).isEmpty
            }
            if !added.isEmpty { try refuseMore(than: most, of: owner) }
        }
        // A yes that is said again counts from now.
        try store.put(rows.filter { news.contains($0) || $0.status.isYes }, replacingAll: true)
        for row in rows {
            _ = removePassing(user: owner, program: program, service: row.service)
            withdraw(by: row)
        }
        for row in news {
            let what = "\(row.service.rawValue) of \(program) was set to \(row.status.word)"
            decide(row, .settings, what, by: options.author)
        }
        if options.lifetime.moment != nil || lifetimes.limits.unused != nil { endDueNow() }
        let follows: Set<Service> = statuses[.libraryReadWrite]?.isYes == true ? [.libraryAdd] : []
        let settled = follows.union(statuses.keys)
        for (key, prompt) in prompts
        where key.user == owner && key.program == program && !prompt.services.isDisjoint(with: settled) {
            finish(key, prompt.id, .decided(prompt.services))
        }
    }

    /// Whether answers would allow what is not allowed already: of the library, where a choice may be a yes and allow less
    /// than before, by answers of at least that length for the same file; of anything else, whether there is a yes at all.
    /// A yes counts from when it is said, so that it allows more than another where such that are not used end.
    ///
    /// - Throws: As `set`.
    public func loosens(
        user: UInt32,
        program: String,
        _ statuses: [Service: AuthorizationStatus],
        lifetime: GrantLifetime = .always
    ) async throws(CaptureError) -> Bool {
        let file = statuses.values.contains(where: \.isYes) ? try await file(of: program) : nil
        let rows = try rows(user: user, program: program, statuses, lifetime, file: file)
        let owner = ClientIdentity.answerUser(of: program, user: user)
        return loosens(rows, try store.answers(user: owner, program: program))
    }

    private func loosens(_ rows: [StoredAnswer], _ stored: [StoredAnswer]) -> Bool {
        let now = now()
        let time = time(now)
        return rows.contains { row in
            guard row.status.isYes else { return false }
            guard lifetimes.limits.unused == nil, Service.ofLibrary.contains(row.service) else { return true }
            return !stored.contains { old in
                let isAsMuch =
                    old.service == row.service
                    ? old.status == .authorized || old.status == row.status
                    : row.service == .libraryAdd && old.service == .libraryReadWrite && old.status.isYes
                        // What is restricted counts for nothing else.
                        && verdict(on: old).decision != .restrict
                return isAsMuch && !old.isNobodys && standing(old, now, time) == .holds
                    && old.executable == row.executable
                    && (old.lifetime.moment ?? .max) >= (row.lifetime.moment ?? .max)
            }
        }
    }

    private func rows(
        user: UInt32,
        program: String,
        _ statuses: [Service: AuthorizationStatus],
        _ lifetime: GrantLifetime,
        file executable: ExecutableFile?
    ) throws(CaptureError) -> [StoredAnswer] {
        let time = now()
        let hasYes = statuses.values.contains(where: \.isYes)
        guard lifetime == .always || (hasYes && (lifetime.moment ?? 0) > time.wall) else {
            throw CaptureError(
                .invalidArgument,
                hasYes
                    ? "a yes holds for always or until a later time, not a past one"
                    : "a no holds until it is changed, not until a date"
            )
        }
        let id = try ProgramID(program)
        if case .executable(let path) = id {
            guard executable != nil || !hasYes else {
                throw CaptureError(
                    .invalidArgument,
                    "captured cannot find the file \(path); to allow a file in a private folder, let it ask"
                )
            }
        }
        return statuses.sorted { $0.key < $1.key }.map { service, status in
            StoredAnswer(
                user: ClientIdentity.answerUser(of: program, user: user),
                program: program,
                service: service,
                tier: id.tier,
                status: status,
                reason: .settings,
                time: time,
                // A denial holds for whatever file comes to lie there.
                executable: status.isYes ? executable : nil,
                detail: "set by id",
                lifetime: status.isYes ? lifetime : .always
            )
        }
    }

    /// Withdraws live grants that a person took back while the store could not be written.
    ///
    /// Nothing is delivered on these grants any more when this returns. Answers that are kept in memory alone are removed.
    /// The stored answers stay, and count again once the store can be used. Until then every start is refused.
    ///
    /// - Parameters:
    ///   - user: Whose answers; `nil` for everybody's. Not used for `unit:` and `uid:`.
    ///   - program: A program's id; `nil` for every program.
    ///   - services: The services; none for all.
    ///   - isDenied: Whether the person denied the services, and did not just reset the answers.
    ///   - fault: Why nothing could be stored.
    ///   - awaitingFiles: Whether to wait until the files of the ended sessions are finished.
    /// - Returns: The error to report to the person.
    public func withdrawUnstored(
        user: UInt32?,
        program: String?,
        services: Set<Service>,
        isDenied: Bool,
        after fault: CaptureError,
        awaitingFiles: Bool = true
    ) async -> CaptureError {
        withdrawNow(user: user, program: program, services: services, isDenied: isDenied)
        await enforce(awaitingFiles: awaitingFiles)
        return CaptureError(
            .inputOutput,
            "running sessions were ended, but the change could not be stored, so the earlier answer will count again; repeat "
                + "the command when this is repaired: \(fault.message)"
        )
    }

    private func withdrawNow(user: UInt32?, program: String?, services: Set<Service>, isDenied: Bool) {
        let meant = services.isEmpty ? Set(Service.allCases) : services
        var owner = user
        if let program, let user { owner = ClientIdentity.answerUser(of: program, user: user) }
        for service in meant { _ = removePassing(user: owner, program: program, service: service) }
        for key in Array(grants.keys)
        where (owner == nil || key.user == owner) && (program == nil || key.program == program) {
            revoke(of: key, why: "it was withdrawn, which could not be stored") { grant, given in
                meant.contains(grant.source) || (isDenied && given.isPolicys && meant.contains(grant.service))
            }
        }
    }

    /// Withdraws the live grants that an answer does not cover any more, and has the others rest on it.
    private func withdraw(by row: StoredAnswer) {
        let key = ProgramKey(user: row.user, program: row.program)
        if row.status == .denied {
            // Policy may have given it by a rule about another service.
            return revoke(of: key) { grant, given in
                grant.source == row.service || (grant.service == row.service && given.isPolicys)
            }
        }
        if row.status == .limited {
            revoke(of: key, why: "it may now only see chosen assets of the media library") { grant, _ in
                grant.source == row.service && !grant.isLimited
            }
        }
        rebase(row)
    }

    private func refuseMore(than most: Int, of user: UInt32) throws(CaptureError) {
        guard try store.settingsCount(of: user) >= most else { return }
        throw CaptureError(
            .busy,
            "this user already has \(most) answers in settings, which is the limit; forget some of them first, with: "
                + "capturectl auth reset"
        )
    }
}
