import Authorization
import CaptureBus
import CaptureCore
import CaptureEngine

/// Carries out the requests on the control socket, without the bus.
///
/// The rules are those of the bus: people's own programs and root may use it; sandboxed programs, services and
/// dedicated users may not. The kernel recorded the caller's credentials at the connection, and the daemon looks the
/// process up by its number. Another process may have that number by then, so the caller only gets what any program of
/// its account gets.
struct ControlHandler: Sendable {
    let authorization: AuthorizationObject
    let engine: CaptureEngine
    let identification: Identification

    func answer(_ request: ControlRequest, of caller: ControlCaller) async -> [ControlAnswer] {
        do throws(CaptureError) {
            let client = try await client(caller)
            switch request {
            case .set(let user, let program, let service, let answer):
                try await authorization.set(
                    for: client,
                    AnswerChange(user: user, program: program, service: service, answer: answer)
                )
                return [.done(count: 1)]
            case .reset(let user, let program, let service):
                let count = try await authorization.reset(for: client, user: user, program: program, service: service)
                return [.done(count: UInt32(clamping: count))]
            case .turn(let service, let isOn):
                try await authorization.setSwitch(for: client, try Service(named: service), isOn: isOn)
                return [.done(count: 1)]
            case .sessions:
                let sessions = await engine.list(for: client)
                return sessions.map { .session(SessionSummary($0)) } + [.done(count: UInt32(clamping: sessions.count))]
            }
        } catch {
            return [.failed(error)]
        }
    }

    private func client(_ caller: ControlCaller) async throws(CaptureError) -> SessionClient {
        let identity = try await identification.identify(caller)
        guard identity.tier == .claimed || identity.user == 0 else {
            throw CaptureError(
                .notPermitted,
                "only people's own programs may use the control socket, not one of tier \(identity.tier.rawValue)"
            )
        }
        return SessionClient(identity: identity, connection: "") { () throws(CaptureError) in
            try await identification.identify(caller)
        }
    }
}

extension SessionSummary {
    /// Describes a session of the engine.
    init(_ session: SessionSnapshot) {
        self.init()
        id = session.id
        status = SessionStatus(session.state, session.reason)
        program = session.program
        user = Users.name(of: session.user)
        isAttached = session.description.isAttached
        description = session.description.shown
    }
}
