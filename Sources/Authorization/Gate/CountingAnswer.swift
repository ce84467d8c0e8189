import CaptureCore

/// What stands between a program and a service, and whence.
struct CountingAnswer: Hashable {
    var status: AuthorizationStatus
    /// The service that was answered, or that policy has a rule for: another one where adding to the library follows from
    /// reading it.
    var source: Service
    /// Why policy allows it, where no answer does.
    var rule: String?
}

/// What policy and the answers of a program come to.
extension Policy {
    /// What counts for a service: policy's no, then an answer, then policy's yes. Who may read the library may add to it,
    /// by an answer or by policy, where nothing is said against that about adding itself.
    ///
    /// - Parameter answered: The answers to all services of the program, as far as there are any.
    func counting(
        _ service: Service,
        _ answered: [Service: AuthorizationStatus],
        for subject: PolicySubject
    ) -> CountingAnswer {
        let verdict = verdict(on: subject, service)
        if verdict.decision == .restrict { return CountingAnswer(status: .restricted, source: service) }
        let source = source(of: service, answered, for: subject)
        if let status = answered[source] { return CountingAnswer(status: status, source: source) }
        if verdict.decision == .allow {
            return CountingAnswer(status: .authorized, source: service, rule: verdict.reason)
        }
        if service == .libraryAdd, verdict.decision == nil, answered[.libraryReadWrite] == nil {
            let reading = self.verdict(on: subject, .libraryReadWrite)
            if reading.decision == .allow {
                return CountingAnswer(status: .authorized, source: .libraryReadWrite, rule: reading.reason)
            }
        }
        return CountingAnswer(status: .notDetermined, source: service)
    }

    /// The service whose answer counts for a service; one that policy stands above counts for no other.
    private func source(
        of service: Service,
        _ answered: [Service: AuthorizationStatus],
        for subject: PolicySubject
    ) -> Service {
        guard service == .libraryAdd, let reading = answered[.libraryReadWrite],
            verdict(on: subject, .libraryReadWrite).decision != .restrict
        else { return service }
        return LibraryAnswers(add: answered[service] ?? .notDetermined, readWrite: reading).source(of: .addOnly).service
    }

    /// What stands between a program and each of the services; one that is not determined is missing.
    func statuses(
        _ services: some Sequence<Service>,
        _ answered: [Service: AuthorizationStatus],
        for subject: PolicySubject
    ) -> [Service: AuthorizationStatus] {
        let all = services.map { ($0, counting($0, answered, for: subject).status) }
        return Dictionary(all) { $1 }.filter { $0.value != .notDetermined }
    }

    /// - Throws: `restricted`, with the file and line that say so.
    func refuseRestricted(_ services: Set<Service>, to subject: PolicySubject) throws(CaptureError) {
        let verdicts = services.sorted().map { ($0, verdict(on: subject, $0)) }
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

    /// Why a live grant must go; `nil` when it may stay.
    ///
    /// - Parameter answered: The answers of its program; `nil` if they cannot be looked up.
    func objection(to live: Grants.Live, _ answered: () -> [Service: AuthorizationStatus]?) -> String? {
        let subject = PolicySubject(live.given.client)
        for service in [live.grant.service, live.grant.source] {
            let verdict = verdict(on: subject, service)
            if verdict.decision == .restrict { return "policy forbids it now: \(verdict.reason)" }
        }
        let verdict = verdict(on: subject, live.grant.service)
        guard live.given.isPolicys, verdict.decision != .allow else { return nil }
        // The person may have said yes meanwhile. Who cannot be looked up does not stay.
        if let answered = answered(), counting(live.grant.service, answered, for: subject).status.isYes { return nil }
        return "policy allows it no longer" + (verdict.reason.isEmpty ? "" : ": \(verdict.reason)")
    }

    /// Whether it decides what a question is about.
    func settles(_ prompt: OpenPrompt) -> Bool {
        prompt.waiters.values.contains { waiter in
            prompt.services.contains { service in
                let decision = verdict(on: PolicySubject(waiter.requester.client), service).decision
                return decision == .restrict || decision == .allow
            }
        }
    }
}
