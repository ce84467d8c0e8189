public import CaptureCore

/// What stands between a program and a service, and whence.
struct CountingAnswer: Hashable {
    var status: AuthorizationStatus
    /// The service that was answered, or that policy has a rule for: another one where adding to the library follows from
    /// reading it.
    var source: Service
    /// Why policy allows it, where no answer does.
    var rule: String?
}

extension AuthorizationGate {
    /// What counts for a service: policy's no, then an answer, then policy's yes. Who may read the library may add to it,
    /// by an answer or by policy, where nothing is said against that about adding itself.
    ///
    /// - Parameter stored: The answers to all services of the program, as far as there are any.
    func counting(
        _ service: Service,
        _ stored: [Service: AuthorizationStatus],
        for subject: PolicySubject
    ) -> CountingAnswer {
        let verdict = policy.verdict(on: subject, service)
        if verdict.decision == .restrict { return CountingAnswer(status: .restricted, source: service) }
        let source = source(of: service, stored, for: subject)
        if let status = stored[source] { return CountingAnswer(status: status, source: source) }
        if verdict.decision == .allow {
            return CountingAnswer(status: .authorized, source: service, rule: verdict.reason)
        }
        if service == .libraryAdd, verdict.decision == nil, stored[.libraryReadWrite] == nil {
            let reading = policy.verdict(on: subject, .libraryReadWrite)
            if reading.decision == .allow {
                return CountingAnswer(status: .authorized, source: .libraryReadWrite, rule: reading.reason)
            }
        }
        return CountingAnswer(status: .notDetermined, source: service)
    }

    /// The service whose answer counts for a service; one that policy stands above counts for no other.
    private func source(
        of service: Service,
        _ stored: [Service: AuthorizationStatus],
        for subject: PolicySubject
    ) -> Service {
        guard service == .libraryAdd, let reading = stored[.libraryReadWrite],
            policy.verdict(on: subject, .libraryReadWrite).decision != .restrict
        else { return service }
        return LibraryAnswers(add: stored[service] ?? .notDetermined, readWrite: reading).source(of: .addOnly).service
    }

    /// What stands between a program and each level of the media library, both as of one moment. Never prompts.
    ///
    /// - Throws: `inputOutput` when the store cannot be used.
    public func libraryAccess(for client: ClientIdentity) throws(CaptureError) -> LibraryStatuses {
        let found = try statuses(Set(Service.ofLibrary), for: client)
        remember(found, for: client)
        return LibraryStatuses(
            add: found[.libraryAdd] ?? .notDetermined,
            readWrite: found[.libraryReadWrite] ?? .notDetermined
        )
    }
}
