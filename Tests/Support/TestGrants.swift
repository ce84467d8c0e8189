public import Authorization
public import CaptureCore

/// Grants for tests of what needs one, by way of a real gate: a program of nobody's, and a person who says yes.
public enum TestGrants {
    /// A live grant for cameras.
    public static func camera() async throws -> Grant {
        try await revocable(.camera).grant
    }

    /// A live grant for microphones.
    public static func microphone() async throws -> Grant {
        try await revocable(.microphone).grant
    }

    /// A live grant, and a closure that withdraws it. `revoke` returns when nothing rests on the grant any more.
    public static func revocable(
        _ service: Service
    ) async throws -> (grant: Grant, revoke: @Sendable () async throws -> Void) {
        let client = ClientIdentity(
            program: "unit:test.service",
            tier: .service,
            user: 0,
            name: "test",
            detail: "a test"
        )
        let gate = AuthorizationGate(prompter: ClosurePrompter.yes)
        let grants = try await gate.requestAccess([service], for: Requester(client: client, session: "") { client })
        guard let grant = grants[service] else {
            throw CaptureError(.internalFault, "the gate gave no grant for \(service.rawValue)")
        }
        return (
            grant,
            { _ = try await gate.set(user: 0, program: client.program, service: service, status: .denied) }
        )
    }
}
