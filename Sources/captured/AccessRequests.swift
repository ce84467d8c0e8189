import Authorization
import CaptureBus
import CaptureCore
import CaptureEngine

/// Requests for access without a session: begun by a call, decided by a signal to the caller, whatever a person takes.
actor AccessRequests {
    private let bus: BusConnection
    private let gate: AuthorizationGate
    private var last: UInt32 = 0
    private var open: [String: [UInt32: Task<Void, Never>]] = [:]

    init(bus: BusConnection, gate: AuthorizationGate) {
        self.bus = bus
        self.gate = gate
    }

    /// Begins a request.
    ///
    /// - Returns: The number that the signal `AccessDecided` will carry.
    func begin(_ services: Set<Service>, for client: SessionClient) -> UInt32 {
        last += 1
        let number = last
        open[client.connection, default: [:]][number] = Task { await self.decide(number, services, for: client) }
        return number
    }

    /// The caller left: nobody waits for its answers any more when this returns.
    func clientGone(_ connection: String) async {
        let tasks = (open.removeValue(forKey: connection) ?? [:]).values
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }

    private func decide(_ number: UInt32, _ services: Set<Service>, for client: SessionClient) async {
        var fault: CaptureError?
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
        open[client.connection]?[number] = nil
        // A caller that is gone does not hear it.
        try? bus.emit(
            CaptureNames.root,
            CaptureNames.authorization,
            "AccessDecided",
            signature: "ussa{su}",
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
