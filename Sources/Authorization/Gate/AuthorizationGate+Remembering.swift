import CaptureCore

/// Decisions that need no turn of the gate when they are asked for again.
extension AuthorizationGate {
    /// Tells the journal that a program may use services.
    func reportAllowed(_ allowed: [Service: CountingAnswer], for client: ClientIdentity) {
        let words = { (service: Service) in
            "\(client.program) may \(Service.action([service], isLimited: allowed[service]?.status == .limited))"
                + (allowed[service]?.rule.map { ": \($0)" } ?? "")
        }
        let status = { (service: Service) in allowed[service]?.status ?? .notDetermined }
        report(Set(allowed.filter { $0.value.rule == nil }.keys), for: client, .storedAnswer, words, status)
        report(Set(allowed.filter { $0.value.rule != nil }.keys), for: client, .policy, words, status)
    }

    /// Keeps statuses that were found in this turn.
    func remember(_ statuses: [Service: AuthorizationStatus], for client: ClientIdentity) {
        if isLasting(client) { remembered.keep(statuses, for: client) }
    }

    /// Keeps that a request for services was granted in this turn, by answers alone. Of one that is limited the status is
    /// kept alone, since a request has to tell it.
    func remember(granted counting: [Service: CountingAnswer], for client: ClientIdentity) {
        guard isLasting(client) else { return }
        let granted = counting.filter { $0.value.status == .authorized }
        remembered.keep(counting.mapValues(\.status), granted: Set(granted.keys), for: client)
    }

    /// Whether nothing in a client's answers depends on the time or on who is connected.
    private func isLasting(_ client: ClientIdentity) -> Bool {
        guard lifetimes.limits.unused == nil, lifetimes.passing.isEmpty,
            let rows = try? store.answers(user: client.answerUser, program: client.program)
        else { return false }
        return rows.allSatisfy { $0.lifetime == .always }
    }
}
