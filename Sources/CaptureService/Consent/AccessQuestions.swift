import Authorization
import CaptureBus
import CaptureCore
import CaptureEngine
import Synchronization

/// Asks for access without a session: a call begins it, `AccessDecided` tells the decision. Thread-safe.
final class AccessQuestions: Sendable {
    /// What is being asked.
    let requests: LongRequests
    private let gate: AuthorizationGate
    private let limited = Mutex<@Sendable (SessionClient) async -> Void> { _ in }

    init(bus: BusConnection, gate: AuthorizationGate) {
        requests = LongRequests(.access, bus: bus)
        self.gate = gate
    }

    /// Begins a request for access.
    ///
    /// - Parameter joins: Whether one of the connection that asks for the same may stand for it.
    /// - Returns: The number that the signal `AccessDecided` will carry.
    /// - Throws: `.busy` when as many wait already as may.
    @discardableResult
    func begin(
        _ services: Set<Service>,
        for client: SessionClient,
        joins: Bool = false
    ) async throws(CaptureError) -> UInt32 {
        try await requests.begin(for: client, about: services, joins: joins) { _ in
            await self.decide(services, for: client)
        }
    }

    /// Has something done when the person has just let a program read chosen assets of the library, before the program
    /// hears of it.
    func whenLimited(_ handler: @escaping @Sendable (SessionClient) async -> Void) {
        limited.withLock { $0 = handler }
    }

    private func decide(_ services: Set<Service>, for client: SessionClient) async -> LongRequests.Outcome {
        var fault: CaptureError?
        var wasOpen = false
        if services.contains(.libraryReadWrite) {
            // If this look fails, the request below is refused.
            wasOpen = (try? await gate.status(.libraryReadWrite, for: client.identity)) == .notDetermined
        }
        do throws(CaptureError) {
            _ = try await gate.requestAccess(services, for: client.requester)
        } catch {
            fault = error
        }
        var statuses: [(Service, AuthorizationStatus)] = []
        for service in services {
            // A store that cannot be read has refused the request above already.
            statuses.append((service, (try? await gate.status(service, for: client.identity)) ?? .notDetermined))
        }
        let isLimited = statuses.contains { $0 == (.libraryReadWrite, .limited) }
        if wasOpen, isLimited, !Task.isCancelled { await limited.withLock { $0 }(client) }
        return LongRequests.Outcome(fault: fault, result: AccessQuestions.table(statuses))
    }

    static func table(_ statuses: [(Service, AuthorizationStatus)]) -> BusValue {
        .dictionary("su", statuses.map { BusEntry(.string($0.0.rawValue), .uint32($0.1.rawValue)) })
    }
}

extension LongRequests.Rules {
    static let access = LongRequests.Rules(
        interface: CaptureNames.authorization,
        signal: "AccessDecided",
        noResult: AccessQuestions.table([]),
        mostOfConnection: 256,
        mostOfUser: 1024,
        tooMany: "256 requests of a connection and 1024 of a user may wait for an answer at a time; wait for one to "
            + "end",
        name: "a request for access",
        verb: "waits",
        awaitsEnd: true
    )
}
