import Authorization
import CaptureCore
import CaptureEngine

/// The grants that connections use the library on: each is had when it is first needed and kept until the connection
/// leaves the bus, so that what was allowed for a session lasts as long as the program does, and the history tells once
/// that it used the library.
actor LibraryGrants: GrantEnforcer {
    /// A grant in use.
    private struct Held {
        var grant: Grant
        var use: DeviceUseKey
    }

    private let gate: AuthorizationGate
    private let uses: LibraryUses
    private var held: [String: [Service: Held]] = [:]
    /// Grants that others have taken the place of. Calls may use them still, so that withdrawals have to reach them.
    private var former: [String: [Grant]] = [:]

    init(gate: AuthorizationGate, uses: LibraryUses) {
        self.gate = gate
        self.uses = uses
        gate.enforced(by: self)
    }

    /// A connection's live grant of a level. Asks the person if that was never decided.
    ///
    /// - Parameter isLimited: Whether the grant must be for chosen assets only, if known. A grant that differs is
    ///   replaced by a new one.
    /// - Throws: As `AuthorizationGate.requestAccess`; `.notPermitted` if the connection has left; `.inputOutput` if
    ///   the history cannot be written; `.revoked` if the grant is withdrawn meanwhile.
    func grant(
        _ level: LibraryLevel,
        _ client: SessionClient,
        isLimited: Bool? = nil
    ) async throws(CaptureError) -> Grant {
        let connection = client.connection
        if let grant = present(level, connection, isLimited) { return grant }
        let grant = try await gate.grant(level.service, for: client)
        let use: DeviceUseKey
        do throws(CaptureError) {
            use = try await uses.begin(grant, by: client.identity)
        } catch {
            await gate.sessionEnded([grant])
            throw error
        }
        // Another call of the same connection may have been quicker.
        if let other = present(level, connection, grant.isLimited) {
            await end(Held(grant: grant, use: use))
            return other
        }
        let former = held[connection, default: [:]].updateValue(Held(grant: grant, use: use), forKey: level.service)
        if let former {
            self.former[connection, default: []].append(former.grant)
            await uses.end(former.use, former.grant)
        }
        do throws(CaptureError) {
            // Once more, now that it is kept: of a connection that leaves from here on it is heard.
            _ = try await client.identifyAgain()
        } catch {
            await clientGone(connection)
            throw error
        }
        // If it was withdrawn before it was stored here, no other code notices.
        guard grant.isLive else {
            for task in await enforceWithdrawals() { await task.value }
            throw CaptureError(.revoked, "the consent to use the media library was withdrawn meanwhile")
        }
        return grant
    }

    /// What a connection has already, if that is what it needs.
    private func present(_ level: LibraryLevel, _ connection: String, _ isLimited: Bool?) -> Grant? {
        guard let grant = held[connection]?[level.service]?.grant, grant.isLive,
            isLimited ?? grant.isLimited == grant.isLimited
        else { return nil }
        return grant
    }

    /// Ends the uses whose consent is gone. Calls that read or change the library check their grant themselves.
    func enforceWithdrawals() async -> [Task<Void, Never>] {
        var gone: [Held] = []
        for (connection, grants) in held {
            for (service, one) in grants where !one.grant.isLive {
                held[connection]?[service] = nil
                gone.append(one)
            }
        }
        // Writing the history delivers nothing.
        return gone.map { one in Task { await end(one) } }
    }

    /// The caller left: its grants are given back.
    func clientGone(_ connection: String) async {
        for one in (held.removeValue(forKey: connection) ?? [:]).values { await end(one) }
        if let grants = former.removeValue(forKey: connection) { await gate.sessionEnded(grants, isShared: true) }
    }

    private func end(_ one: Held) async {
        // Before it is given back, from when on it is no more alive than one that was withdrawn.
        await uses.end(one.use, one.grant)
        await gate.sessionEnded([one.grant], isShared: true)
    }
}
