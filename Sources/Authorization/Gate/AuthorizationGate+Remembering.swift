import CaptureCore

/// Decisions that need no turn of the gate when they are asked for again.
extension AuthorizationGate {
    /// Tells the journal that a program may use services.
    ///
    /// - Parameter byPolicy: Those that policy allows, with the reason.
    func reportAllowed(_ services: Set<Service>, for client: ClientIdentity, _ byPolicy: [Service: String]) {
        let words = { (service: Service) in
            "\(client.program) may use \(service.title)" + (byPolicy[service].map { ": \($0)" } ?? "")
        }
        report(services.subtracting(byPolicy.keys), for: client, .storedAnswer, words) { _ in .authorized }
        report(Set(byPolicy.keys), for: client, .policy, words) { _ in .authorized }
    }

    /// Keeps statuses that were found in this turn.
    func remember(_ statuses: [Service: AuthorizationStatus], for client: ClientIdentity) {
        if isLasting(client) { remembered.keep(statuses, for: client) }
    }

    /// Keeps that a request for services was granted in this turn, by answers alone.
    func remember(_ services: Set<Service>, for client: ClientIdentity) {
        if isLasting(client) {
            let statuses = Dictionary(uniqueKeysWithValues: services.map { ($0, AuthorizationStatus.authorized) })
            remembered.keep(statuses, granted: services, for: client)
        }
    }

    /// Whether nothing in a client's answers depends on the time or on who is connected.
    private func isLasting(_ client: ClientIdentity) -> Bool {
        guard lifetimes.limits.unused == nil, lifetimes.passing.isEmpty,
            let rows = try? store.answers(user: client.answerUser, program: client.program)
        else { return false }
        return rows.allSatisfy { $0.lifetime == .always }
    }
}
