import Authorization
import CaptureBus
import CaptureCore

/// Why programs of the person's own capture, where no file of the system's says it.
extension AgentRegistry {
    func reasons(
        of client: ClientIdentity,
        for services: [Service],
        session connection: String
    ) async -> UsageDescription {
        var found = stated.usage(of: client, on: connection)
        guard let agent = await agent(for: client, on: connection) else { return found }
        do throws(CaptureError) {
            let reply = try await call(
                agent,
                "Describe",
                [.string(client.program), .string(client.parts.unit), .strings(services.map(\.rawValue))],
                timeout: 5
            )
            for (name, reason) in reply.first?.properties ?? [:] {
                guard let service = Service(rawValue: name), services.contains(service) else { continue }
                let shown = UsageDescription.shown(reason.text ?? "")
                // A file of the person's goes before what the program says now.
                if !shown.isEmpty { found.reasons[service] = shown }
            }
        } catch {
            // An agent that does not know how to look, or does not answer, knows of none.
        }
        return found
    }
}
