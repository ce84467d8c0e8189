import Authorization
import CaptureBus
import CaptureCore

/// Whether the user of a program is there: the program's login session is not locked, and nobody else sits at its seat.
///
/// Programs that belong to the machine, and users without a login session, are always there.
struct UserPresence: Presence {
    /// `nil` when the bus that it is on cannot be reached.
    let logind: Logind?
    let sessions: LoginSessions

    func absence(of client: ClientIdentity) async -> String? {
        guard !client.tier.belongsToMachine, let id = sessions.session(of: client) else { return nil }
        let name = Users.name(of: client.user)
        do throws(CaptureError) {
            guard let logind else { throw CaptureError(.unreachable, "the system bus cannot be reached") }
            let session = try await logind.session(id)
            if session.isLocked {
                return "session \(id) of \(name) is locked; its programs cannot capture until it is unlocked "
                    + "(StopWhenLocked=)"
            }
            guard !session.isActive, let seat = session.seat,
                let other = try await logind.user(inFrontOf: session.seatPath), other != session.user
            else { return nil }
            try await Users.learn([other])
            return "\(Users.name(of: other)) sits at \(seat) now; programs of session \(id) of \(name) cannot capture "
                + "until it is in front again (StopWhenLocked=)"
        } catch {
            return "cannot tell whether session \(id) of \(name) is locked, so its programs cannot capture "
                + "(StopWhenLocked=): \(error)"
        }
    }
}
