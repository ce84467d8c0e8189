import CaptureCore

/// Finds the reasons why programs capture.
extension AuthorizationGate {
    /// A program's reasons for services, from files that only root or its package can write. If these have none, and the
    /// program is the person's own, the prompter is asked.
    ///
    /// - Parameter session: Its connection; empty for a program that does not run.
    /// - Throws: `missingUsageDescription` if a service has no reason.
    func usage(
        of client: ClientIdentity,
        for services: [Service],
        session: String
    ) async throws(CaptureError) -> UsageDescription {
        do throws(CaptureError) {
            return try await filed(client, services)
        } catch  where error.code == .missingUsageDescription && client.tier == .claimed {
            let all = await usages(of: client, for: services, session: session)
            let missing = services.filter { (try? all[$0]?.get()) == nil }
            // Throws one error that names every missing line.
            var usage = missing.isEmpty ? UsageDescription(reasons: [:]) : try await filed(client, missing)
            for one in services.compactMap({ try? all[$0]?.get() }) {
                usage.name = usage.name ?? one.name
                usage.reasons.merge(one.reasons) { $1 }
            }
            return usage
        }
    }

    /// The same, separately for each service. The prompter looks only once, because that may take seconds.
    func usages(
        of client: ClientIdentity,
        for services: [Service],
        session: String
    ) async -> [Service: Result<UsageDescription, CaptureError>] {
        var found: [Service: Result<UsageDescription, CaptureError>] = [:]
        var missing: [Service] = []
        for service in services {
            do throws(CaptureError) {
                found[service] = .success(try await filed(client, [service]))
            } catch {
                found[service] = .failure(error)
                if error.code == .missingUsageDescription { missing.append(service) }
            }
        }
        guard client.tier == .claimed, !missing.isEmpty else { return found }
        let own = await prompter.reasons(of: client, for: missing, session: session)
        for service in missing {
            guard let reason = own[service] else { continue }
            found[service] = .success(UsageDescription(reasons: [service: reason]))
        }
        return found
    }

    private func filed(
        _ client: ClientIdentity,
        _ services: [Service]
    ) async throws(CaptureError) -> UsageDescription {
        try await aside { [usage] () throws(CaptureError) in try usage.description(of: client, for: services) }
    }
}
