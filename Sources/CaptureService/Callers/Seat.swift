import CSystemd
import Glibc

/// Who sits at the machine: sd-login(3).
///
/// Thread-safe. What logind does not say, or where there is no logind, is `nil` or false: nobody is there.
enum Seat {
    /// The session in the foreground of `seat0`.
    static func active() -> Audience? {
        var id: UnsafeMutablePointer<CChar>?
        var user: uid_t = 0
        let code = unsafe sd_seat_get_active("seat0", &id, &user)
        defer { unsafe free(id) }
        guard code >= 0, let id = unsafe id else { return nil }
        return Audience(user: user, session: unsafe String(cString: id))
    }

    /// The session that a user's own services belong to: the display session, else the newest.
    static func displaySession(of user: UInt32) -> String? {
        var id: UnsafeMutablePointer<CChar>?
        let code = unsafe sd_uid_get_display(user, &id)
        defer { unsafe free(id) }
        guard code >= 0, let id = unsafe id else { return nil }
        return unsafe String(cString: id)
    }

    /// Whether a user has a session.
    static func hasSession(_ user: UInt32) -> Bool {
        sd_uid_get_sessions(user, 0, nil) > 0
    }

    /// The user of a session.
    static func user(of session: String) -> UInt32? {
        var user: uid_t = 0
        return unsafe sd_session_get_uid(session, &user) >= 0 ? user : nil
    }
}
