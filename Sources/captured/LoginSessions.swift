import Authorization
import CaptureBus

/// Which login session a program belongs to: by logind's word alone.
///
/// Thread-safe; made of closures, so that tests need no logind.
struct LoginSessions: Sendable {
    /// The user of a session; `nil` for one that is not there.
    var user: @Sendable (_ session: String) -> UInt32?
    /// The display session of a user, which their service manager's programs belong to; `nil` without any.
    var display: @Sendable (_ user: UInt32) -> String?

    /// The machine's, by logind.
    static let system = LoginSessions(user: { Seat.user(of: $0) }, display: { Seat.displaySession(of: $0) })

    /// The session that a program belongs to; `nil` where its user has none.
    ///
    /// A process in the session of another user, as after sudo(8), and one in none, as below the user's service manager,
    /// belong to their own user's display session.
    func session(of client: ClientIdentity) -> String? {
        let own = client.parts.session
        return !own.isEmpty && user(own) == client.user ? own : display(client.user)
    }
}
