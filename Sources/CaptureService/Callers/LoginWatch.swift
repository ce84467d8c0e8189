import Authorization
import CaptureBus
import CaptureCore

/// Follows what becomes of login sessions, and has the gate look again, while the configuration wants that.
actor LoginWatch {
    private let bus: BusConnection
    private let isSystem: Bool
    private let sessions: LoginSessions
    private let gate: AuthorizationGate
    private let looked: @Sendable () async -> Void
    private var isStopping = false
    private var subscriptions: [BusSubscription] = []

    /// - Parameters:
    ///   - bus: The daemon's own, which logind is on as well where it is the system's.
    ///   - isSystem: Whether that is the system's.
    ///   - looked: Told when the gate has looked who is there: those who came back may go on.
    init(
        bus: BusConnection,
        isSystem: Bool,
        sessions: LoginSessions,
        gate: AuthorizationGate,
        looked: @escaping @Sendable () async -> Void = {}
    ) {
        self.bus = bus
        self.isSystem = isSystem
        self.sessions = sessions
        self.gate = gate
        self.looked = looked
    }

    /// Whether capturing stops while its user is away. Where logind cannot be followed, everybody counts as away who has a
    /// session; asking for it again tries again.
    func setStopping(_ stops: Bool) async {
        let isFollowing = !subscriptions.isEmpty
        guard stops != isStopping || stops && !isFollowing else { return }
        isStopping = stops
        subscriptions = []
        guard stops else { return await look(by: nil) }
        var logind: Logind?
        do throws(CaptureError) {
            let system = isSystem ? bus : try await BusConnection.open(.system)
            let heard = try await follow(system)
            // It may have been taken back meanwhile.
            guard isStopping else { return }
            subscriptions = heard
            logind = Logind(bus: system)
        } catch {
            Journal.send(
                "StopWhenLocked=: cannot watch logind, so no logged-in user may capture: \(error)",
                priority: .error
            )
        }
        await look(by: UserPresence(logind: logind, sessions: sessions))
    }

    private func look(by presence: UserPresence?) async {
        await gate.setPresence(presence)
        await looked()
    }

    private func follow(_ system: BusConnection) async throws(CaptureError) -> [BusSubscription] {
        let (gate, looked) = (gate, looked)
        // In the order of the signals is not needed: each look is at what is true then.
        let look: @Sendable () -> Void = {
            Task {
                await gate.presenceChanged()
                await looked()
            }
        }
        let match = BusMatch(sender: Logind.name, interface: CaptureNames.properties, member: "PropertiesChanged")
        let changes = try await system.subscribe(match) { signal in
            guard let interface = signal.arguments.first?.text,
                interface == Logind.name + ".Session" || interface == Logind.name + ".Seat"
            else { return }
            look()
        }
        let restarts = try await system.watchName(Logind.name) { _ in look() }
        return [changes, restarts]
    }
}
