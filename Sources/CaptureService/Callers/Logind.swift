import CaptureBus
import CaptureCore

/// Asks logind over the bus. The files that sd-login(3) reads don't say whether a session is locked, and may lag behind
/// logind's signals. The caller's next call does not wait for logind's answer.
struct Logind: Sendable {
    static let name = "org.freedesktop.login1"
    private static let path = "/org/freedesktop/login1"

    let bus: BusConnection

    /// A login session now.
    struct Session: Hashable, Sendable {
        var user: UInt32
        /// By the word of its screen locker.
        var isLocked: Bool
        /// Whether it is in the foreground of its seat; one without a seat always is.
        var isActive: Bool
        /// Its seat, as in `seat0`; `nil` for a session from elsewhere.
        var seat: String?
        /// The seat's object.
        var seatPath: String
    }

    /// Looks at a session.
    ///
    /// - Throws: What kept logind from answering; `.badData` for what is no session.
    func session(_ id: String) async throws(CaptureError) -> Session {
        BusTurn.end()
        let found = try await bus.call(
            Self.name,
            Self.path,
            Self.name + ".Manager",
            "GetSession",
            signature: "s",
            [.string(id)],
            timeout: 10
        ).first?.text
        guard let found else { throw Logind.strange("session \(id)") }
        return try await session(at: found)
    }

    /// The user whose session is in the foreground of a seat; `nil` for none.
    func user(inFrontOf seat: String) async throws(CaptureError) -> UInt32? {
        let active = try await properties(of: seat, "Seat")["ActiveSession"]?.elements
        guard let active, active.count == 2, let id = active[0].text, let path = active[1].text else {
            throw Logind.strange(seat)
        }
        return id.isEmpty ? nil : try await session(at: path).user
    }

    private func session(at path: String) async throws(CaptureError) -> Session {
        let facts = try await properties(of: path, "Session")
        guard let user = facts["User"]?.elements?.first?.integer(as: UInt32.self),
            let isLocked = facts["LockedHint"]?.boolean, let isActive = facts["Active"]?.boolean,
            let seat = facts["Seat"]?.elements, seat.count == 2, let name = seat[0].text, let place = seat[1].text
        else { throw Logind.strange(path) }
        return Session(
            user: user,
            isLocked: isLocked,
            isActive: isActive,
            seat: name.isEmpty ? nil : name,
            seatPath: place
        )
    }

    private func properties(of path: String, _ interface: String) async throws(CaptureError) -> [String: BusValue] {
        BusTurn.end()
        let answer = try await bus.call(
            Self.name,
            path,
            CaptureNames.properties,
            "GetAll",
            signature: "s",
            [.string("\(Self.name).\(interface)")],
            timeout: 10
        )
        return answer.first?.properties ?? [:]
    }

    private static func strange(_ what: String) -> CaptureError {
        CaptureError(.badData, "cannot understand what logind says about \(what)")
    }
}
