import CaptureCore
import Logging

extension AuthorizationGate {
    /// What the store says for a client; services without an answer are missing.
    func storedStatuses(for client: ClientIdentity) throws(CaptureError) -> [Service: AuthorizationStatus] {
        var statuses: [Service: AuthorizationStatus] = [:]
        for answer in try countingAnswers(for: client) {
            // Two rows can count where one holds for every file of the id: the stricter wins.
            statuses[answer.service] = AuthorizationGate.stricter(statuses[answer.service], answer.status)
        }
        return statuses
    }

    /// Of two answers to the same the one that allows less.
    static func stricter(_ one: AuthorizationStatus?, _ other: AuthorizationStatus) -> AuthorizationStatus {
        guard let one else { return other }
        return [.denied, .limited].first { $0 == one || $0 == other } ?? other
    }

    /// The answers that allow a client its services, the ones that hold longest; services without one are missing.
    func bases(for client: ClientIdentity) throws(CaptureError) -> [Service: StoredAnswer] {
        let rows = try countingAnswers(for: client).map { ($0.service, $0) }
        return Dictionary(rows) { first, second in
            guard first.lifetime.isStored, second.lifetime.isStored else {
                return first.lifetime.isStored ? first : second
            }
            return (first.lifetime.moment ?? .max) >= (second.lifetime.moment ?? .max) ? first : second
        }
    }

    /// The services that neither an answer nor policy decides, and what counts for the others.
    ///
    /// - Throws: `restricted`, naming the rules, before an answer is looked for; `denied`, naming every service that the
    ///   person said no to; `usage` when nothing is asked for.
    func refuseOrFindUndecided(
        _ services: Set<Service>,
        for client: ClientIdentity
    ) throws(CaptureError) -> (undecided: Set<Service>, counting: [Service: CountingAnswer]) {
        guard !services.isEmpty else { throw CaptureError(.usage, "the request names no service") }
        let subject = PolicySubject(client)
        try refuseRestricted(services, to: subject)
        let statuses = try storedStatuses(for: client)
        var found: [Service: CountingAnswer] = [:]
        for service in services { found[service] = counting(service, statuses, for: subject) }
        log.debug(
            """
            \(client.program) of user \(client.answerUser) wants \(services.map(\.rawValue).sorted()); \
            decided: \(found.map { "\($0.key.rawValue) is \($0.value.status.word)" }.sorted())
            """
        )
        let denied = services.filter { found[$0]?.status == .denied }
        guard denied.isEmpty else { throw self.denied(denied, client) }
        let decided = found.filter { $0.value.status.isYes }
        return (services.subtracting(decided.keys), decided)
    }

    /// That the person said no.
    func denied(_ services: Set<Service>, _ client: ClientIdentity) -> CaptureError {
        CaptureError(
            .denied,
            "\(client.name) (\(client.program)) was denied \(phrase(services)); to be asked again: "
                + "capturectl auth reset '\(client.program)'"
        )
    }

    /// Looks once more who is behind the connection.
    ///
    /// - Throws: `notPermitted` when that is somebody else, or cannot be told.
    func confirm(
        _ client: ClientIdentity,
        _ again: @Sendable () async throws(CaptureError) -> ClientIdentity
    ) async throws(CaptureError) {
        let later: ClientIdentity
        do throws(CaptureError) {
            later = try await again()
        } catch {
            throw CaptureError(.notPermitted, "the program that asked cannot be identified again: \(error.message)")
        }
        guard client.isUnchanged(in: later) else { throw AuthorizationGate.changed }
    }

    /// Tells the journal what came of a request, service by service, each in a sentence of its own: two that read alike
    /// would look like one event told twice.
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
}
