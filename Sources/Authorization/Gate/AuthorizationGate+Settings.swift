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
        return combined(Service.allCases, try answered(user: user, program: program), for: subject)
    }

    /// Whether a program is limited to chosen assets of the media library, by an answer for the file that is there now.
    ///
    /// - Throws: `inputOutput` when the store cannot be used.
    public func isLimited(user: UInt32, program: String) async throws(CaptureError) -> Bool {
        guard try statuses(user: user, program: program)[.libraryReadWrite] == .limited else { return false }
        let owner = ClientIdentity.answerUser(of: program, user: user)
        let limiting = current(try store.answers(user: owner, program: program)) {
            $0.program == program && $0.user == owner
        }.filter { $0.service == .libraryReadWrite && $0.status == .limited && !$0.isNobodys }
        return try await aside { [root] () throws(CaptureError) in
            limiting.contains { answer in
                guard answer.tier == .claimed else { return true }
                guard let file = answer.executable, let present = ExecutableFile.inspect(file.path, below: root) else {
                    return false
                }
                return file.isSameProgram(as: present)
            }
        }
    }

    /// The answers that a program has, the strictest where its files have different ones.
    private func answered(user: UInt32, program: String) throws(CaptureError) -> [Service: AuthorizationStatus] {
        var statuses: [Service: AuthorizationStatus] = [:]
        let user = ClientIdentity.answerUser(of: program, user: user)
        let answers = current(try store.answers(user: user, program: program)) { passing in
            passing.user == user && passing.program == program
        }
        for answer in answers {
            statuses[answer.service] = AuthorizationGate.stricter(statuses[answer.service], answer.status)
        }
        return statuses
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
        let id = try ProgramID(program)
        let name = DisplayText.neutralized(program, limit: 100)
        for (service, status) in statuses.sorted(by: { $0.key < $1.key }) {
            guard status == .authorized || status == .denied || (status == .limited && service.canBeLimited) else {
                let limited = service.canBeLimited ? ", limited" : ""
                throw CaptureError(
                    .invalidArgument,
                    "an answer about \(service.rawValue) must be authorized\(limited) or denied, not \(status.word)"
                )
            }
            if case .app = id, status != .denied {
                throw CaptureError(
                    .invalidArgument,
                    "any file can run as \(name), so it can only be allowed when it asks: run "
                        + "'capturectl auth reset \(name) \(service.rawValue)', then start the program"
                )
            }
        }
        let allowed = Set(statuses.filter { $0.value.isYes }.keys)
        let subject = PolicySubject(named: id, user: id.tier.belongsToMachine ? nil : user)
        try refuseRestricted(allowed.isEmpty ? Set(statuses.keys) : allowed, to: subject)
        guard statuses[.libraryAdd] == .denied, statuses[.libraryReadWrite] == nil,
            policy.verdict(on: subject, .libraryReadWrite).decision != .restrict,
            try answered(user: user, program: program)[.libraryReadWrite]?.isYes == true
        else { return }
        throw CaptureError(
            .invalidArgument,
            "\(name) may read the media library, which includes adding, so this no would have no effect; to allow "
                + "neither: capturectl auth set '\(name)' library none"
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
        let gone = try resetNow(user: user, program: program, services: services, denials: denials, by: author)
        await enforce(awaitingFiles: awaitingFiles)
        return gone
    }

    private func resetNow(
        user: UInt32?,
        program: String?,
        services: Set<Service>,
        denials: [StoredAnswer]?,
        by author: SettingsAuthor?
    ) throws(CaptureError) -> [StoredAnswer] {
        let meant = services.isEmpty ? Set(Service.allCases) : services
        var owner = user
        if let program, let user { owner = ClientIdentity.answerUser(of: program, user: user) }
        let gone =
            try store.remove(user: owner, program: program, service: nil) { row in
                guard meant.contains(row.service) else { return true }
                guard row.status == .denied, let denials else { return false }
                return !denials.contains(row)
            }
            + meant.sorted().flatMap { removePassing(user: owner, program: program, service: $0) }
        // All of them before anything is told.
        for row in gone { revoke(user: row.user, program: row.program, service: row.service) }
        for row in gone {
            var row = row
            row.status = .notDetermined
            decide(row, .settings, "\(row.service.rawValue) of \(row.program) was reset", by: author)
        }
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
