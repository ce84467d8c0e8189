import Authorization
import CaptureBus
import CaptureCore
import CaptureEngine
import CaptureMessages
import Synchronization

/// Whom signals about sessions and answers are sent to: the connections that asked to be told, each of what concerns it,
/// and the one that made a session.
///
/// Nothing of it is broadcast, since everybody on a bus hears what is: which program captures is a matter of its user
/// and root. Thread-safe.
final class Listeners: Sendable {
    /// How many connections of a user may listen at a time.
    static let mostOfUser = 256

    private let clients = Mutex<[String: ClientIdentity]>([:])

    /// Tells a connection what it may see from now on, until it leaves the bus. Idempotent.
    ///
    /// - Throws: `.notPermitted` when it cannot be identified or is not who it was; `.busy` when as many of its user's are
    ///   told already as may be.
    func subscribe(_ connection: String, known callers: CallerDirectory) async throws(CaptureError) {
        try add(try await callers.client(connection).identity, connection: connection)
        // That it left before it was added is not told again.
        if await callers.identity(of: connection) == nil { remove(connection) }
    }

    /// Tells a connection of an identified program from now on, until it is removed. Idempotent.
    ///
    /// - Throws: `.busy` when as many of its user's are told already as may be.
    func add(_ identity: ClientIdentity, connection: String) throws(CaptureError) {
        try clients.withLock { clients throws(CaptureError) in
            let others = clients.count { $0.value.user == identity.user && $0.key != connection }
            guard others < Listeners.mostOfUser else {
                throw CaptureError(
                    .busy,
                    "\(Listeners.mostOfUser) connections of a user may subscribe at a time; close one of them"
                )
            }
            clients[connection] = identity
        }
    }

    /// Tells a connection no more.
    func remove(_ connection: String) {
        clients.withLock { $0[connection] = nil }
    }

    /// Who hears of a session: who may control it, and whoever made it.
    func hear(_ session: SessionSnapshot) -> [String] {
        var connections = connections { $0.mayControl(session.program, of: session.user) }
        connections.insert(session.connection)
        return connections.sorted()
    }

    /// Who hears of what a program does: who may control that.
    func hear(of program: String, user: UInt32) -> [String] {
        connections { $0.mayControl(program, of: user) }.sorted()
    }

    /// Who hears of an answer: whom it is listed to, but who is in a sandbox of its own program's alone.
    func hear(answerOf user: UInt32, to program: String) -> [String] {
        let isMachines = ClientIdentity.isMachines(program)
        return connections { $0.mayControl(program, of: user) || (isMachines && $0.tier != .sandboxed) }.sorted()
    }

    private func connections(_ isTold: (ClientIdentity) -> Bool) -> Set<String> {
        clients.withLock { Set($0.filter { isTold($0.value) }.keys) }
    }
}

extension Listeners {
    /// Tells those whom it concerns where a use of a device stands.
    func tell(_ bus: BusConnection, of use: ListedUse) throws(CaptureError) {
        for listener in hear(of: use.client.program, user: use.client.user) {
            try bus.tell(
                CaptureNames.root,
                CaptureNames.manager,
                "UseChanged",
                [use.shown.busValue],
                to: listener
            )
        }
    }

    /// Tells those whom it concerns that a stored answer changed.
    func tell(
        _ bus: BusConnection,
        of status: AuthorizationStatus,
        for service: Service,
        user: UInt32,
        program: String
    ) throws(CaptureError) {
        for listener in hear(answerOf: user, to: program) {
            try bus.tell(
                CaptureNames.root,
                CaptureNames.authorization,
                "Changed",
                [
                    .string(Users.name(of: user)), .string(program), .string(service.rawValue),
                    .uint32(status.rawValue),
                ],
                to: listener
            )
        }
    }
}
