import CaptureBus
public import CaptureCore
import CaptureMessages

extension CaptureDaemon {
    /// The uses of cameras and microphones now and until a moment ago, the oldest first: this user's, and for root
    /// everybody's. Changes are told by `events()`, each by the use that it is about.
    ///
    /// - Throws: `CaptureError.Code.unreachable` when the daemon is not there.
    public func uses() async throws(CaptureError) -> [LiveUse] {
        try CaptureDaemon.records(try await manage("ListUses").first, "ListUses")
    }

    /// The sessions that this user may see, those that are over lately included, the oldest first.
    public func sessions() async throws(CaptureError) -> [SessionSummary] {
        let list = try await manage("ListSessions").first
        let sessions: [SessionSummary] = try CaptureDaemon.records(list, "ListSessions")
        return sessions.sorted { $0.id < $1.id }
    }

    /// The processes of this user that hold a camera's or microphone's node past the daemon; to root those of everyone.
    public func holders() async throws(CaptureError) -> [NodeHolder] {
        try CaptureDaemon.records(try await manage("ListHolders").first, "ListHolders")
    }

    /// The records of an answer.
    static func records<Record: BusRecord>(_ value: BusValue?, _ member: String) throws(CaptureError) -> [Record] {
        try understood(value?.records(of: Record.self), member)
    }
}
