import CaptureBus
public import CaptureCore

/// A session as the daemon lists it.
public struct SessionSummary: Hashable, Sendable {
    /// Its number.
    public var id: UInt32
    /// Where it stands, and why.
    public var status: SessionStatus
    /// The program that made it.
    public var program: String
    /// The user whose it is, by name where the daemon knows it.
    public var user: String
    /// Whether it ends with its program.
    public var isAttached: Bool
    /// The inputs, outputs and connections; `nil` when the daemon does not say.
    public var description: SessionDescription?

    init(_ session: ControlSession) throws(CaptureError) {
        guard let state = SessionState(rawValue: session.state) else { throw CaptureDaemon.malformed("sessions") }
        id = session.id
        status = SessionStatus(state, session.reason)
        program = session.program
        user = session.user
        isAttached = session.isAttached
        description = nil
    }

    init(_ facts: [String: BusValue]) throws(CaptureError) {
        func text(_ keys: String...) -> String { keys.compactMap { facts[$0]?.text }.first ?? "" }
        guard let id = facts["id"]?.unsigned.flatMap({ UInt32(exactly: $0) }),
            let state = SessionState(rawValue: text("state"))
        else { throw CaptureDaemon.malformed("ListSessions") }
        self.id = id
        let code = text("reason-code", "reasonCode")
        status = SessionStatus(state, code.isEmpty ? nil : CaptureError(.init(rawValue: code), text("reason")))
        program = text("program")
        user = facts["user-name"]?.text ?? facts["user"]?.text ?? facts["user"]?.unsigned.map { "\($0)" } ?? ""
        isAttached = facts["attached"]?.boolean ?? false
        description = try facts["description"].map { value throws(CaptureError) in
            try SessionDescription(busValue: value)
        }
    }
}

extension CaptureDaemon {
    /// The sessions that this user may see, those that are over lately included, the oldest first.
    public func sessions() async throws(CaptureError) -> [SessionSummary] {
        guard let list = try await manage("ListSessions").first?.elements else {
            throw CaptureDaemon.malformed("ListSessions")
        }
        var sessions: [SessionSummary] = []
        for element in list { sessions.append(try SessionSummary(element.properties ?? [:])) }
        return sessions.sorted { $0.id < $1.id }
    }
}
