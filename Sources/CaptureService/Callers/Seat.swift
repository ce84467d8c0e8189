import CSystemd
import Glibc

/// Who sits at the machine: sd-login(3).
///
/// Thread-safe. What logind does not say, or where there is no logind, is `nil` or false: nobody is there.
enum Seat {
    /// A login session.
    struct Session: Hashable, Sendable {
        /// As in `2` or `c1`.
        var id: String
        /// Its user.
        var user: UInt32
    }

    /// The session in the foreground of a seat.
    static func active(on seat: String = "seat0") -> Session? {
        var id: UnsafeMutablePointer<CChar>?
        var user: uid_t = 0
        let code = unsafe sd_seat_get_active(seat, &id, &user)
        defer { unsafe free(id) }
        guard code >= 0, let id = unsafe id else { return nil }
        return Session(id: unsafe String(cString: id), user: user)
    }

    /// The user whose session is in the foreground of a seat.
    static func activeUser(of seat: String = "seat0") -> UInt32? { active(on: seat)?.user }

    /// The session that a user's own services belong to: the display session, else the newest.
    static func displaySession(of user: UInt32) -> String? {
        unsafe text { unsafe sd_uid_get_display(user, $0) }
    }

    /// The sessions of a user, those in the foreground alone if so asked.
    static func sessions(of user: UInt32, activeOnly: Bool = false) -> [String] {
        var list: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        let count = unsafe sd_uid_get_sessions(user, activeOnly ? 1 : 0, &list)
        guard count > 0, let list = unsafe list else { return [] }
        defer { unsafe free(list) }
        var names: [String] = []
        for index in 0..<Int(count) {
            guard let name = unsafe list[index] else { break }
            names.append(unsafe String(cString: name))
            unsafe free(name)
        }
        return names
    }

    /// Whether a session is in the foreground of its seat.
    static func isActive(_ session: String) -> Bool {
        unsafe sd_session_is_active(session) > 0
    }

    /// The user of a session.
    static func user(of session: String) -> UInt32? {
        var user: uid_t = 0
        return unsafe sd_session_get_uid(session, &user) >= 0 ? user : nil
    }

    /// The seat of a session.
    static func seat(of session: String) -> String? {
        unsafe text { unsafe sd_session_get_seat(session, $0) }
    }

    private static func text(_ call: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Int32) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        let code = unsafe call(&text)
        defer { unsafe free(text) }
        guard code >= 0, let text = unsafe text else { return nil }
        return unsafe String(cString: text)
    }
}
