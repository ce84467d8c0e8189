import Authorization
import CaptureBus
import CaptureCore
import CaptureEngine
import CaptureMessages

/// Requests for access without a session: begun by a call, decided by a signal to the caller, whatever a person takes.
actor AccessRequests {
    private let bus: BusConnection
    private let gate: AuthorizationGate
    /// What a connection waits for.
    private struct Open {
        var user: UInt32
        /// Numbers are the connection's own, so that they tell nothing of what others do.
        var last: UInt32 = 0
        var requests: [UInt32: (services: Set<Service>, task: Task<Void, Never>)] = [:]
    }

    private var open: [String: Open] = [:]
    private var limited: @Sendable (SessionClient) async -> Void = { _ in }

    init(bus: BusConnection, gate: AuthorizationGate) {
        self.bus = bus
        self.gate = gate
    }

    /// How many requests of a connection, and how many of a user's, may wait at a time.
    static let mostOfConnection = 256
    static let mostOfUser = 1024

    /// Begins a request.
    ///
    /// - Returns: The number that the signal `AccessDecided` will carry.
    /// - Throws: `.busy` when as many wait already as may.
    func begin(_ services: Set<Service>, for client: SessionClient) throws(CaptureError) -> UInt32 {
        let user = client.identity.user
        let ofUser = open.values.reduce(0) { $1.user == user ? $0 + $1.requests.count : $0 }
        var own = open[client.connection] ?? Open(user: user)
        guard own.requests.count < Self.mostOfConnection, ofUser < Self.mostOfUser else {
            throw CaptureError(
                .busy,
                "\(Self.mostOfConnection) requests of a connection and \(Self.mostOfUser) of a user may wait for an answer "
                    + "at a time; wait for one to end"
            )
        }
        own.last = own.last == .max ? 1 : own.last + 1
        let number = own.last
        own.requests[number] = (services, Task { await self.decide(number, services, for: client) })
        open[client.connection] = own
        return number
    }

    /// Takes back a request of a connection; `AccessDecided` still tells of its end.
    ///
    /// - Throws: `.invalidArgument` when there is no such request.
    func cancel(_ number: UInt32, of connection: String) throws(CaptureError) {
        guard let request = open[connection]?.requests[number] else {
            throw CaptureError(.invalidArgument, "no request \(number) of this connection waits")
        }
        request.task.cancel()
    }

    /// Begins a request that nobody counts on, unless the connection has one for the same that waits.
    func beginOnce(_ services: Set<Service>, for client: SessionClient) throws(CaptureError) {
        let waiting = open[client.connection]?.requests.values.map(\.services) ?? []
        if !waiting.contains(where: { $0.isSuperset(of: services) }) { _ = try begin(services, for: client) }
    }

    /// The caller left: nobody waits for its answers any more when this returns.
    func clientGone(_ connection: String) async {
        let tasks = open.removeValue(forKey: connection)?.requests.values.map(\.task) ?? []
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }

    /// Has something done when the person has just let a program read chosen assets of the library, before the program
    /// hears of it.
    func whenLimited(_ handler: @escaping @Sendable (SessionClient) async -> Void) {
        limited = handler
    }

    private func decide(_ number: UInt32, _ services: Set<Service>, for client: SessionClient) async {
        var fault: CaptureError?
        var wasOpen = false
        if services.contains(.libraryReadWrite) {
            // What cannot be told is refused below.
            wasOpen = (try? await gate.status(.libraryReadWrite, for: client.identity)) == .notDetermined
        }
        do throws(CaptureError) {
            _ = try await gate.requestAccess(
                services,
                for: client.identity,
                session: client.connection,
                again: client.identifyAgain
            )
        } catch {
            fault = error
        }
        var statuses: [(Service, AuthorizationStatus)] = []
        for service in services {
            // A store that cannot be read has refused the request above already.
            statuses.append((service, (try? await gate.status(service, for: client.identity)) ?? .notDetermined))
        }
        let isLimited = statuses.contains { $0 == (.libraryReadWrite, .limited) }
        if wasOpen, isLimited, !Task.isCancelled { await limited(client) }
        open[client.connection]?.requests[number] = nil
        // A caller that is gone does not hear it.
        try? bus.tell(
            CaptureNames.root,
            CaptureNames.authorization,
            "AccessDecided",
            [
                .uint32(number), .string(fault?.code.rawValue ?? ""), .string(fault?.message ?? ""),
                AccessRequests.table(statuses),
            ],
            to: client.connection
        )
    }

    static func table(_ statuses: [(Service, AuthorizationStatus)]) -> BusValue {
        .dictionary("su", statuses.map { BusEntry(.string($0.0.rawValue), .uint32($0.1.rawValue)) })
    }
}
