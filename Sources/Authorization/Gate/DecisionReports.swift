import CaptureCore

/// Tells the journal and the history what was decided, in order.
struct DecisionReports: Sendable {
    private let decisions: @Sendable (Decision) -> Void

    init(_ decisions: @escaping @Sendable (Decision) -> Void) {
        self.decisions = decisions
    }

    /// Tells what came of a request, service by service, each in a sentence of its own: two that read alike would look
    /// like one event told twice.
    func report(
        _ services: Set<Service>,
        for client: ClientIdentity,
        _ cause: Decision.Cause,
        _ message: (Service) -> String,
        _ status: (Service) -> AuthorizationStatus
    ) {
        for service in services.sorted() {
            decisions(
                Decision(
                    program: client.program,
                    tier: client.tier,
                    user: client.answerUser,
                    pid: client.pid,
                    identity: client.detail,
                    service: service,
                    status: status(service),
                    cause: cause,
                    message: message(service)
                )
            )
        }
    }

    /// Tells that a program may use services.
    func allowed(_ allowed: [Service: CountingAnswer], for client: ClientIdentity) {
        let words = { (service: Service) in
            "\(client.program) may \(Service.action([service], isLimited: allowed[service]?.status == .limited))"
                + (allowed[service]?.rule.map { ": \($0)" } ?? "")
        }
        let status = { (service: Service) in allowed[service]?.status ?? .notDetermined }
        report(Set(allowed.filter { $0.value.rule == nil }.keys), for: client, .storedAnswer, words, status)
        report(Set(allowed.filter { $0.value.rule != nil }.keys), for: client, .policy, words, status)
    }

    /// Tells of a change without a request.
    func changed(_ row: StoredAnswer, _ cause: Decision.Cause, _ message: String, by author: SettingsAuthor? = nil) {
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

    /// Tells of an answer that is gone.
    func gone(_ row: StoredAnswer, _ cause: Decision.Cause, _ what: String, by author: SettingsAuthor? = nil) {
        var row = row
        row.status = .notDetermined
        changed(row, cause, "\(row.service.rawValue) of \(row.program) \(what)", by: author)
    }

    /// Tells what a question about the media library came to, or about what it was taken with.
    func settled(
        _ cause: Decision.Cause,
        _ status: AuthorizationStatus,
        of client: ClientIdentity,
        _ message: String,
        _ services: Set<Service>? = nil
    ) {
        report(services ?? [.libraryReadWrite], for: client, cause) { _ in
            message
        } _: { _ in
            status
        }
    }

    /// Tells why such a question got no answer.
    func unsettled(
        _ error: CaptureError,
        of client: ClientIdentity,
        _ message: String,
        _ services: Set<Service>? = nil
    ) {
        let cause = Task.isCancelled ? .requesterGone : Decision.Cause(error)
        settled(cause, .notDetermined, of: client, "\(message): \(error.message)", services)
    }
}
