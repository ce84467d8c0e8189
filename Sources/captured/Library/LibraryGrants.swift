import Authorization
import CaptureCore
import CaptureEngine

/// The grants that connections use the library on: each is had when it is first needed and kept until the connection
/// leaves the bus, so that what was allowed for a session lasts as long as the program does, and the history tells once
/// that it used the library.
actor LibraryGrants {
    private let gate: AuthorizationGate
    private var grants: [String: [Service: Grant]] = [:]

    init(gate: AuthorizationGate) {
        self.gate = gate
    }

    /// A live grant of a level for a connection; where that was never decided the person is asked.
    ///
    /// - Parameter isLimited: Whether it is for chosen assets alone, where that is known: one that says otherwise is had
    ///   anew.
    /// - Throws: As `AuthorizationGate.requestAccess`; `.notPermitted` for a connection that has left.
    func grant(
        _ level: LibraryLevel,
        _ client: SessionClient,
        isLimited: Bool? = nil
    ) async throws(CaptureError) -> Grant {
        let connection = client.connection
        if let grant = grants[connection]?[level.service], grant.isLive, isLimited ?? grant.isLimited == grant.isLimited
        {
            return grant
        }
        let given = try await gate.requestAccess(
            [level.service],
            for: client.identity,
            session: connection,
            again: client.identifyAgain
        )
        guard let grant = given[level.service] else {
            throw CaptureError(.internalFault, "no grant was given for \(level.service.rawValue)")
        }
        let former = grants[connection, default: [:]].updateValue(grant, forKey: level.service)
        do throws(CaptureError) {
            // Once more, now that it is kept: of a connection that leaves from here on it is heard.
            _ = try await client.identifyAgain()
        } catch {
            await clientGone(connection)
            throw error
        }
        if let former { await gate.sessionEnded([former]) }
        return grant
    }

    /// The caller left: its grants are given back.
    func clientGone(_ connection: String) async {
        guard let given = grants.removeValue(forKey: connection) else { return }
        await gate.sessionEnded(Array(given.values))
    }
}
