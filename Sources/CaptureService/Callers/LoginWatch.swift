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

    private enum Looking {
        case not
        /// `looksAgain` says that something changed since it began.
        case underWay(looksAgain: Bool)
    }
    private var looking = Looking.not
    /// The shortest time between two looks. Each has the requests for consent that wait begin anew, so a session that changes
    /// all the time must not cause looks without a pause.
    private static let pause = Duration.milliseconds(50)
    /// What of a session or seat tells whether its user is there.
    private static let telling: Set<String> = ["Active", "ActiveSession", "LockedHint"]

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

    /// Has the gate look now, or once more after the look that is under way: each is at what is true then.
    private func lookAgain() async {
        guard case .not = looking else { return looking = .underWay(looksAgain: true) }
        while true {
            looking = .underWay(looksAgain: false)
            await gate.presenceChanged()
            await looked()
            // Nothing cancels it.
            try? await Task.sleep(for: LoginWatch.pause)
            guard case .underWay(looksAgain: true) = looking else { return looking = .not }
        }
    }

    private func follow(_ system: BusConnection) async throws(CaptureError) -> [BusSubscription] {
        let look: @Sendable () -> Void = { [weak self] in Task { await self?.lookAgain() } }
        let match = BusMatch(sender: Logind.name, interface: CaptureNames.properties, member: "PropertiesChanged")
        let changes = try await system.subscribe(match) { signal in
            guard let interface = signal.arguments.first?.text,
                interface == Logind.name + ".Session" || interface == Logind.name + ".Seat",
                LoginWatch.isTelling(signal.arguments)
            else { return }
            look()
        }
        let restarts = try await system.watchName(Logind.name) { _ in look() }
        return [changes, restarts]
    }

    /// Whether a signal names a property that tells who is there, or cannot be read.
    private static func isTelling(_ arguments: [BusValue]) -> Bool {
        guard arguments.count > 2, let changed = arguments[1].properties, let gone = arguments[2].elements else {
            return true
        }
        return !telling.isDisjoint(with: changed.keys) || !telling.isDisjoint(with: gone.compactMap(\.text))
    }
}
