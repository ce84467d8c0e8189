import CaptureCore

/// What the administrator decides before the user.
extension AuthorizationGate {
    /// Replaces the policy. Before it returns, it withdraws what the new policy forbids and what only the old one
    /// allowed, and nothing is delivered on that any more. It takes away open questions that the new policy answers. It
    /// does not wait for files to be finished.
    ///
    /// - Returns: How many grants were withdrawn.
    @discardableResult
    public func setPolicy(_ policy: Policy) async -> Int {
        let count = apply(policy)
        await enforce()
        return count
    }

    private func apply(_ policy: Policy) -> Int {
        self.policy = policy
        let gone = withdraw { client, grant, isPolicys in
            let subject = PolicySubject(client)
            for service in [grant.service, grant.source] {
                let verdict = policy.verdict(on: subject, service)
                if verdict.decision == .restrict { return "policy forbids it now: \(verdict.reason)" }
            }
            let verdict = policy.verdict(on: subject, grant.service)
            guard isPolicys, verdict.decision != .allow else { return nil }
            // The person may have said yes meanwhile. Who cannot be looked up does not stay.
            if let stored = try? storedStatuses(for: client), counting(grant.service, stored, for: subject).status.isYes
            {
                return nil
            }
            return "policy allows it no longer" + (verdict.reason.isEmpty ? "" : ": \(verdict.reason)")
        }
        for one in gone {
            let words = { (service: Service) in
                "\(one.client.program) loses \(service.title) while it uses it: \(one.reason)"
            }
            let isRestricted = policy.verdict(on: PolicySubject(one.client), one.service).decision == .restrict
            report([one.service], for: one.client, .policy, words) { _ in isRestricted ? .restricted : .notDetermined }
        }
        for (key, prompt) in prompts {
            let isSettled = prompt.waiters.values.contains { waiter in
                prompt.services.contains { service in
                    let decision = policy.verdict(on: PolicySubject(waiter.client), service).decision
                    return decision == .restrict || decision == .allow
                }
            }
            if isSettled { finish(key, prompt.id, .decided(prompt.services)) }
        }
        return gone.count
    }

    /// What stands between a program and each of the services; one that is not determined is missing.
    func statuses(
        _ services: Set<Service>,
        for client: ClientIdentity
    ) throws(CaptureError) -> [Service: AuthorizationStatus] {
        let subject = PolicySubject(client)
        let restricted = services.filter { policy.verdict(on: subject, $0).decision == .restrict }
        // Not worth a look at the store where policy says no to everything.
        let stored = restricted == services ? [:] : try storedStatuses(for: client)
        return combined(services, stored, for: subject)
    }

    /// The same of a program by its answers.
    func combined(
        _ services: some Sequence<Service>,
        _ stored: [Service: AuthorizationStatus],
        for subject: PolicySubject
    ) -> [Service: AuthorizationStatus] {
        var statuses: [Service: AuthorizationStatus] = [:]
        for service in services {
            let status = counting(service, stored, for: subject).status
            if status != .notDetermined { statuses[service] = status }
        }
        return statuses
    }

    /// What the policy says of a stored answer, which does not count where that is no.
    public func verdict(on answer: StoredAnswer) -> PolicyVerdict {
        policy.verdict(on: PolicySubject(answer), answer.service)
    }

    /// - Throws: `restricted`, with the file and line that say so.
    func refuseRestricted(_ services: Set<Service>, to subject: PolicySubject) throws(CaptureError) {
        let verdicts = services.sorted().map { ($0, policy.verdict(on: subject, $0)) }
        let restricting = verdicts.filter { $0.1.decision == .restrict }
        guard let first = restricting.first else { return }
        var reasons: [String] = []
        for (_, verdict) in restricting where !reasons.contains(verdict.reason) { reasons.append(verdict.reason) }
        if !first.1.fault.isEmpty {
            throw CaptureError(.restricted, "the policy cannot be understood: \(reasons.joined(separator: "; "))")
        }
        throw CaptureError(
            .restricted,
            "policy forbids \(subject.program) \(phrase(Set(restricting.map(\.0)))), whatever the user answers: "
                + reasons.joined(separator: "; ")
        )
    }
}
