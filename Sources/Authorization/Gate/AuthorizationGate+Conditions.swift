public import CaptureCore

/// What stands above the answers or ends them: policy, switches, whether the person is there, and time.
extension AuthorizationGate {
    /// Takes a turn of the gate, to prove that the gate works. A gate that waits for its store takes no turns.
    public func takeTurn() {}

    /// What stands between a program and a service now. Never prompts.
    ///
    /// - Throws: `inputOutput` when the store cannot be used, which is not looked at for what policy forbids.
    public func status(_ service: Service, for client: ClientIdentity) throws(CaptureError) -> AuthorizationStatus {
        let status = try answers.statuses([service], for: client)[service] ?? .notDetermined
        answers.remember([service: status], for: client)
        return status
    }

    /// What stands between a program and each level of the media library, both as of one moment. Never prompts.
    ///
    /// - Throws: `inputOutput` when the store cannot be used.
    public func libraryAccess(for client: ClientIdentity) throws(CaptureError) -> LibraryStatuses {
        let found = try answers.statuses(Set(Service.ofLibrary), for: client)
        answers.remember(found, for: client)
        return LibraryStatuses(
            add: found[.libraryAdd] ?? .notDetermined,
            readWrite: found[.libraryReadWrite] ?? .notDetermined
        )
    }

    /// Replaces the policy. Before it returns, it withdraws what the new policy forbids and what only the old one
    /// allowed, and nothing is delivered on that any more. It takes away open questions that the new policy answers. It
    /// does not wait for files to be finished.
    ///
    /// - Returns: How many grants were withdrawn.
    @discardableResult
    public func setPolicy(_ policy: Policy) async -> Int {
        let count = apply(policy)
        await enforcers.enforce()
        return count
    }

    private func apply(_ policy: Policy) -> Int {
        answers.policy = policy
        let count = withdraw(
            by: .withdrawn,
            .policy,
            status: { client, service in
                let isRestricted = policy.verdict(on: PolicySubject(client), service).decision == .restrict
                return isRestricted ? .restricted : .notDetermined
            }
        ) { live in
            policy.objection(to: live) { try? answers.answered(for: live.given.client) }
        }
        questions.finish { _, prompt in policy.settles(prompt) ? .decided(prompt.services) : nil }
        return count
    }

    /// The switches now.
    public var currentSwitches: Switches { switchboard.switches }

    /// Switches a service off or on for every program.
    ///
    /// When a service is off, its live grants are withdrawn, nothing is delivered on them any more, and its open
    /// questions are gone before this returns. Answers stay. The switch keeps its state over a restart.
    ///
    /// - Parameters:
    ///   - service: Which one.
    ///   - isOn: The new state.
    ///   - awaitingFiles: Whether to wait until files that end by this are finished.
    ///   - turned: Gets the state of all switches when this one changed, whether or not the change could be stored. The
    ///     gate calls it in the order of the changes, so it must not block.
    /// - Throws: `inputOutput` if the change could not be stored. The service is then off until the daemon ends; it is
    ///   never turned on.
    public func setSwitch(
        _ service: Service,
        isOn: Bool,
        awaitingFiles: Bool = true,
        turned: @Sendable (Switches) -> Void = { _ in }
    ) async throws(CaptureError) {
        var fault: CaptureError?
        do throws(CaptureError) {
            try turn(service, isOn: isOn, turned)
        } catch {
            // It may be off although the change could not be stored.
            fault = error
        }
        await enforcers.enforce(awaitingFiles: awaitingFiles)
        if let fault { throw fault }
    }

    private func turn(
        _ service: Service,
        isOn: Bool,
        _ turned: @Sendable (Switches) -> Void
    ) throws(CaptureError) {
        let wasOff = switchboard.switches.isOff(service)
        defer { if switchboard.switches.isOff(service) != wasOff { turned(switchboard.switches) } }
        guard !isOn else { return try switchboard.turnOn(service) }
        switchboard.turnOff(service)
        _ = withdraw(by: .switchedOff, .switched) { $0.grant.service == service ? "it was switched off" : nil }
        if let refusal = switchboard.switches.refusal([service]) {
            questions.finish { _, prompt in prompt.services.contains(service) ? .failed(refusal) : nil }
        }
        do throws(CaptureError) {
            try switchboard.save()
        } catch {
            throw CaptureError(
                .inputOutput,
                "\(service.title) is switched off, but only until captured restarts: \(error.message)"
            )
        }
    }

    /// Allows capture only while the person is present, from now on; `nil` allows it always.
    ///
    /// What that forbids has been withdrawn when this returns, and nothing is delivered on it any more.
    public func setPresence(_ presence: (any Presence)?) async {
        self.presence = presence
        await presenceChanged()
    }

    /// Looks again who is present. Before it returns, it withdraws the grants of users who are away and takes away
    /// their questions, and nothing is delivered to them any more. Answers stay. It does not wait for files to be
    /// finished.
    public func presenceChanged() async {
        await lookWhoIsThere()
        // Needed also if another caller's look withdrew the grants.
        await enforcers.enforce()
    }

    private func lookWhoIsThere() async {
        // First, so that a request which has looked already looks again.
        presenceRevision &+= 1
        guard let presence else { return }
        var away: [ClientIdentity: String] = [:]
        for client in Set(grants.live().map { $0.given.client } + questions.waiting) {
            away[client] = await presence.absence(of: client)
        }
        guard !away.isEmpty else { return }
        _ = withdraw(by: .userAway, .userAway) { away[$0.given.client] }
        questions.dismiss { client in away[client].map { CaptureError(.userAway, $0) } }
    }

    /// Why a program may not capture now though its answer may be a yes: `userAway`; `nil` when its user is there.
    public func absence(of client: ClientIdentity) async -> CaptureError? {
        await presence?.absence(of: client).map { CaptureError(.userAway, $0) }
    }

    /// Refuses a client whose user is away. When it returns, nobody has gone away since it looked: whoever goes during a look
    /// has no grant yet that could be withdrawn.
    func checkPresence(of client: ClientIdentity) async throws(CaptureError) {
        var revision: UInt64
        repeat {
            revision = presenceRevision
            if let absence = await absence(of: client) { throw absence }
        } while revision != presenceRevision
    }

    /// Why nothing is captured for now though it may be allowed, `switchedOff` or `userAway`; `nil` when it may go on.
    public func interruption(of services: Set<Service>, for client: ClientIdentity) async -> CaptureError? {
        if let refusal = switchboard.switches.refusal(services) { return refusal }
        return await absence(of: client)
    }

    /// Looks whether consent is still there, whatever is switched off. Asks nobody.
    ///
    /// - Throws: `restricted` and `denied` as for a request; `revoked` when there is neither an answer nor a rule that
    ///   allows it; `inputOutput` when the store cannot be used.
    public func checkConsent(to services: Set<Service>, for client: ClientIdentity) throws(CaptureError) {
        let undecided = try answers.refuseOrFindUndecided(services, for: client).undecided
        guard undecided.isEmpty else { throw AuthorizationGate.gone(undecided) }
    }

    /// That an answer which was there is not there any more.
    static func gone(_ services: Set<Service>) -> CaptureError {
        CaptureError(
            .revoked,
            "the consent for \(phrase(services)) was withdrawn or has ended; start again to be asked"
        )
    }

    /// Withdraws the live grants for which `reason` returns a reason, and tells of each.
    ///
    /// - Parameter status: What stands between a program and a service afterwards.
    /// - Returns: How many.
    private func withdraw(
        by kind: Grant.End,
        _ cause: Decision.Cause,
        status: ((ClientIdentity, Service) -> AuthorizationStatus)? = nil,
        _ reason: (Grants.Live) -> String?
    ) -> Int {
        let gone = grants.withdraw(by: kind, reason)
        // Interrupted uses count as used until now, because they may go on later. If the disk cannot be written,
        // answers merely expire sooner.
        if kind != .withdrawn {
            for row in gone.compactMap({ $0.live.given.row }) { _ = try? answers.lifetimes.noteUse(of: row) }
        }
        for (live, why) in gone {
            let client = live.given.client
            reports.report([live.grant.service], for: client, cause) { service in
                "\(client.program) loses \(service.title) while it uses it: \(why)"
            } _: { service in
                status?(client, service) ?? (try? answers.statuses([service], for: client)[service]) ?? .notDetermined
            }
        }
        return gone.count
    }

    /// Changes the limits. Answers that are over by the new limits have ended when this returns.
    public func setLifetimes(_ limits: LifetimeLimits) async {
        answers.lifetimes.limits = limits
        await endDue()
    }

    /// Tells which programs are connected now, so that answers which hold until a program is closed know when it is.
    ///
    /// - Parameters:
    ///   - programs: All of them, one for each connection.
    ///   - revision: Grows with every change: an older list that comes later is not looked at.
    public func connected(_ programs: [ClientIdentity], revision: UInt64) {
        if answers.lifetimes.connected(programs, revision: revision) { keepTime() }
    }

    /// Gives back the grants of a session that is over or needs less than before.
    ///
    /// Does not wait for enforcers, because they call this.
    ///
    /// - Parameters:
    ///   - needed: What other sessions still need, by client. Interrupted sessions count although they hold no live grants: an
    ///     answer "for this time" outlives this session if another one needs it.
    ///   - isShared: Whether a call may still use one: it holds no more then, since no later withdrawal would reach it.
    public func sessionEnded(
        _ given: [Grant],
        needed: [ClientIdentity: Set<Service>] = [:],
        isShared: Bool = false
    ) {
        answers.lifetimes.sessionEnded(given, needed: needed, isShared: isShared)
        keepTime()
    }

    /// Ends expired answers: removes their rows, withdraws their grants and reports it. The gate calls this at the
    /// right time by itself, and never grants on an expired answer, even before this ran. When it returns, nothing is
    /// delivered any more on what ended.
    public func endDue() async {
        answers.lifetimes.endDue()
        keepTime()
        await enforcers.enforce()
    }

    /// Looks again when the next answer ends.
    func keepTime() {
        waking?.cancel()
        waking = answers.lifetimes.nextLook().map { delay in
            Task { [weak self] in
                guard (try? await Task.sleep(for: delay)) != nil else { return }
                await self?.endDue()
            }
        }
    }

    /// Adds an enforcer, which is held weakly. From now on, a withdrawal waits for this enforcer, too.
    public nonisolated func enforced(by enforcer: any GrantEnforcer) {
        enforcers.add(enforcer)
    }
}
