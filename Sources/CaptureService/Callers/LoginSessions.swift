import Authorization
import CaptureBus
import Glibc

/// Where a question is put: to the agents of one user in one login session.
struct Audience: Hashable, Sendable {
    var user: UInt32
    /// `nil` for a user who has none: what runs below the service manager of one who is not logged in.
    var session: String?
}

/// Which login session a program belongs to, and whom questions about it are put to: by logind's word alone.
///
/// Thread-safe; made of closures, so that tests need no logind.
struct LoginSessions: Sendable {
    /// The user of a session; `nil` for one that is not there.
    var user: @Sendable (_ session: String) -> UInt32?
    /// The display session of a user, which their service manager's programs belong to; `nil` without any.
    var display: @Sendable (_ user: UInt32) -> String?
    /// Who sits at the machine, in the session that is in front; `nil` for nobody.
    var active: @Sendable () -> Audience?

    /// The machine's, by logind.
    static let system = LoginSessions(
        user: { Seat.user(of: $0) },
        display: { Seat.displaySession(of: $0) },
        active: { Seat.active() }
    )

    /// The same on a session bus, where its own user counts as who sits at the machine.
    static let ofSessionBus = LoginSessions(
        user: system.user,
        display: system.display,
        active: { Audience(user: getuid(), session: Seat.displaySession(of: getuid())) }
    )

    /// The session that a program belongs to; `nil` where its user has none.
    ///
    /// A process in the session of another user, as after sudo(8), and one in none, as below the user's service manager,
    /// belong to their own user's display session.
    func session(of client: ClientIdentity) -> String? {
        let own = client.parts.session
        return !own.isEmpty && user(own) == client.user ? own : display(client.user)
    }

    /// Whom questions about a program are put to: its own user in its session; for one that belongs to the machine, who
    /// sits there. `nil` where that is nobody.
    func audience(for client: ClientIdentity) -> Audience? {
        client.tier.belongsToMachine ? active() : Audience(user: client.user, session: session(of: client))
    }

    /// Whether an agent is the one of a question's user, in the same session.
    func isThere(_ agent: ClientIdentity, of audience: Audience) -> Bool {
        agent.user == audience.user && session(of: agent) == audience.session
    }
}
