import Authorization
import CaptureCore
import Synchronization

/// Who is told of the changes of a device's settings: each connection for as long as its grant holds. Thread-safe.
final class ControlAudience: Sendable {
    private struct Member {
        var grant: Grant
        /// How often the connection asked to be told; it may leave off as often.
        var watches: Int
    }

    private let members = Mutex<[String: Member]>([:])
    private let tell: @Sendable (DeviceControl, _ connection: String) -> Void

    /// - Parameter tell: Must not block.
    init(_ tell: @escaping @Sendable (DeviceControl, _ connection: String) -> Void) { self.tell = tell }

    var connections: [String] { members.withLock { $0.keys.sorted() } }
    var isEmpty: Bool { members.withLock { $0.isEmpty } }
    /// Those whose consent is gone, and the grants that it was.
    var withdrawn: [String: Grant] { members.withLock { $0.filter { !$0.value.grant.isLive }.mapValues(\.grant) } }

    func add(_ connection: String, _ grant: Grant) {
        members.withLock { members in
            let watches = members[connection]?.watches ?? 0
            members[connection] = Member(grant: grant, watches: watches + 1)
        }
    }

    /// Ends one watch of a connection.
    ///
    /// - Returns: Its grant, if that was the last one.
    func release(_ connection: String) -> Grant? {
        members.withLock { members in
            guard let member = members[connection] else { return nil }
            guard member.watches > 1 else { return members.removeValue(forKey: connection)?.grant }
            members[connection] = Member(grant: member.grant, watches: member.watches - 1)
            return nil
        }
    }

    /// Ends all watches of a connection.
    ///
    /// - Returns: Its grant; `nil` without a watch.
    @discardableResult
    func remove(_ connection: String) -> Grant? { members.withLock { $0.removeValue(forKey: connection)?.grant } }

    /// Tells them of a change. Called by the device's thread.
    func hear(_ control: DeviceControl) {
        for (connection, member) in members.withLock({ $0 }) where member.grant.isLive { tell(control, connection) }
    }
}
