public import CaptureCore

/// What settings show and change.
extension AuthorizationGate {
    /// Every answer that holds, by user, program and service; then those that are never written down.
    ///
    /// - Throws: `inputOutput` when the store cannot be used.
    public func list() throws(CaptureError) -> [StoredAnswer] { try answers.all() }

    /// Every answer that holds, as `list` has it, with what it comes to.
    ///
    /// - Throws: `inputOutput` when the store cannot be used.
    public func listed() throws(CaptureError) -> [ListedAnswer] { try answers.listed() }

    /// What settings show for a program: policy's no, then its answers (the strictest, where its files have different
    /// ones), then policy's yes.
    ///
    /// - Throws: `invalidArgument` for what is no program's id, `inputOutput` when the store cannot be used.
    public func statuses(user: UInt32, program: String) throws(CaptureError) -> [Service: AuthorizationStatus] {
        let id = try ProgramID(program)
        let subject = PolicySubject(named: id, user: id.tier.belongsToMachine ? nil : user)
        let answered = try answers.answered(user: user, program: program)
        return answers.policy.statuses(Service.allCases, answered, for: subject)
    }

    /// Whether a program is limited to chosen assets of the media library, by an answer for the file that is there now.
    ///
    /// - Throws: `inputOutput` when the store cannot be used.
    public func isLimited(user: UInt32, program: String) async throws(CaptureError) -> Bool {
        guard try statuses(user: user, program: program)[.libraryReadWrite] == .limited else { return false }
        let limiting = try answers.all(user: user, program: program).filter {
            $0.service == .libraryReadWrite && $0.status == .limited && !$0.isNobodys
        }
        return try await files.isPresent(limiting)
    }

    /// Whether answers would count; asked again when they are set.
    ///
    /// A yes of a person's own program is bound to its file, which the name of a unit does not tell: any of the person's
    /// programs may run in a unit of that name. It is given to the program that asks.
    ///
    /// - Throws: `restricted`, naming the file and line, where policy forbids what would be allowed, or all of it;
    ///   `invalidArgument` for what is no id, for a yes of an `app:` id, for a status that cannot be set, and for a no to
    ///   adding to the library where the program may read it, which would have no effect.
    public func checkSettable(
        user: UInt32,
        program: String,
        _ statuses: [Service: AuthorizationStatus]
    ) throws(CaptureError) {
        try answers.check(SettingChange(user: user, program: program, statuses: statuses))
    }

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
        let change = try await change(user: user, program: program, statuses, options.lifetime)
        try set(change, options)
        await enforcers.enforce(awaitingFiles: options.awaitsFiles)
    }

    private func set(_ change: SettingChange, _ options: SettingOptions) throws(CaptureError) {
        if try answers.set(change, options) { keepTime() }
        let follows: Set<Service> = change.statuses[.libraryReadWrite]?.isYes == true ? [.libraryAdd] : []
        let settled = follows.union(change.statuses.keys)
        questions.finish { key, prompt in
            key.programKey == ProgramKey(user: change.owner, program: change.program)
                && !prompt.services.isDisjoint(with: settled) ? .decided(prompt.services) : nil
        }
    }

    /// A change that only tightens does not wait for a file.
    private func change(
        user: UInt32,
        program: String,
        _ statuses: [Service: AuthorizationStatus],
        _ lifetime: GrantLifetime
    ) async throws(CaptureError) -> SettingChange {
        var change = SettingChange(user: user, program: program, statuses: statuses, lifetime: lifetime)
        if change.hasYes { change.file = try await files.file(of: program) }
        return change
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
        let change = try await change(user: user, program: program, statuses, lifetime)
        return try answers.loosens(change)
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
        answers.withdraw(SettingScope(user: user, program: program, services), isDenied: isDenied)
        await enforcers.enforce(awaitingFiles: awaitingFiles)
        return CaptureError(
            .inputOutput,
            "running sessions were ended, but the change could not be stored, so the earlier answer will count again; repeat "
                + "the command when this is repaired: \(fault.message)"
        )
    }

    /// Forgets answers, so that the next start asks again. When it returns, the change is on disk, the live grants are
    /// withdrawn, and nothing is delivered on them any more.
    ///
    /// - Parameters:
    ///   - user: Whose answers; `nil` for everybody's. Not looked at for `unit:` and `uid:`.
    ///   - program: A program's id; `nil` for every program.
    ///   - services: Which; none for all.
    ///   - denials: Which denials may be among them; every other one stays. `nil` for all.
    ///   - author: Who forgets them, for the journal and the history.
    ///   - awaitingFiles: Whether to wait until files that end by this are finished.
    /// - Returns: The answers that were forgotten.
    /// - Throws: `inputOutput` when the store cannot be used.
    @discardableResult
    public func reset(
        user: UInt32?,
        program: String?,
        services: Set<Service>,
        denials: [StoredAnswer]? = nil,
        by author: SettingsAuthor? = nil,
        awaitingFiles: Bool = true
    ) async throws(CaptureError) -> [StoredAnswer] {
        let scope = SettingScope(user: user, program: program, services)
        let gone = try answers.reset(scope, denials: denials, by: author)
        await enforcers.enforce(awaitingFiles: awaitingFiles)
        return gone
    }

    /// Forgets answers about a service, `nil` for all, as `reset` of several does.
    @discardableResult
    public func reset(
        user: UInt32?,
        program: String?,
        service: Service?,
        denials: [StoredAnswer]? = nil,
        by author: SettingsAuthor? = nil
    ) async throws(CaptureError) -> [StoredAnswer] {
        let services: Set<Service> = service.map { [$0] } ?? []
        return try await reset(user: user, program: program, services: services, denials: denials, by: author)
    }
}
