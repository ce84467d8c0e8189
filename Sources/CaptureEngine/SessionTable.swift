import Authorization
import CaptureCore

/// The sessions of a machine: those that exist, and the last ones that are over. Bound to the engine's actor.
final class SessionTable {
    private var sessions: [UInt32: Session] = [:]
    private var lastID: UInt32 = 0
    /// Those that are over, by user, the longest first.
    private var over: [UInt32: [UInt32]] = [:]

    /// How many sessions of one user that are over stay listed.
    static let remembered = 64
    /// How many sessions of one user may exist at a time.
    static let mostSessions = 256

    var values: Dictionary<UInt32, Session>.Values { sessions.values }

    subscript(_ id: UInt32) -> Session? { sessions[id] }

    /// The session of a number, if the caller may see it.
    func find(_ id: UInt32, for client: SessionClient) throws(CaptureError) -> Session {
        guard let session = sessions[id], client.mayControl(session.client.identity) else {
            throw CaptureError(.noSuchSession, "there is no session \(id)")
        }
        return session
    }

    /// Makes a session.
    ///
    /// - Throws: `.busy` if its user has too many, `.invalidArgument` for a file that another output writes.
    func add(_ description: SessionDescription, files: [String: any OpenFile], client: SessionClient)
        throws(CaptureError) -> Session
    {
        let user = client.identity.user
        guard sessions.values.count(where: { !$0.state.isFinal && $0.client.identity.user == user }) < Self.mostSessions
        else { throw CaptureError(.busy, "a user may have \(Self.mostSessions) sessions at a time; stop some first") }
        try refuseShared(files, beside: [:], of: nil, for: client)
        lastID += 1
        let session = Session(id: lastID, client: client, description: description, files: files)
        sessions[lastID] = session
        return session
    }

    /// A session is over. Forgets those of its user that have been so the longest, beyond the number that stays listed.
    ///
    /// - Parameter forgotten: Told of each.
    func ended(_ session: Session, _ forgotten: (UInt32) -> Void) {
        let all = (over[session.client.identity.user] ?? []) + [session.id]
        over[session.client.identity.user] = all.suffix(Self.remembered)
        for id in all.dropLast(Self.remembered) {
            sessions[id] = nil
            forgotten(id)
        }
    }

    /// What sessions that are not at their end need consent for, by their clients.
    var servicesInUse: [ClientIdentity: Set<Service>] {
        var used: [ClientIdentity: Set<Service>] = [:]
        for session in sessions.values
        where !session.state.isFinal && session.ending == nil && session.client.taking == nil {
            used[session.client.identity, default: []].formUnion(session.grants.keys)
        }
        return used
    }

    /// Refuses files that an output writes already: two recorders would each write over what the other wrote. What is
    /// allowed has to be in its session before anything is awaited.
    ///
    /// - Parameters:
    ///   - files: The files that come anew, by output.
    ///   - kept: The outputs of the same session that go on writing, with their files.
    ///   - id: That session, if it is there yet.
    /// - Throws: `.invalidArgument` naming the output, and who writes its file.
    func refuseShared(
        _ files: [String: any OpenFile],
        beside kept: [String: FileIdentity],
        of id: UInt32?,
        for client: SessionClient
    ) throws(CaptureError) {
        var writers: [FileIdentity: String] = [:]
        for (name, identity) in kept { writers[identity] = name }
        for (name, file) in files.sorted(by: { $0.key < $1.key }) {
            guard let identity = file.identity else { continue }
            if let other = writers.updateValue(name, forKey: identity) {
                throw CaptureError(
                    .invalidArgument,
                    "the outputs '\(other)' and '\(name)' have the same file; give each its own"
                )
            }
            for session in sessions.values where session.id != id {
                guard let other = session.written.first(where: { $0.value == identity })?.key else { continue }
                // Whose session it is, is no business of other users.
                let who =
                    client.mayControl(session.client.identity)
                    ? "the output '\(other)' of session \(session.id)" : "another session"
                throw CaptureError(
                    .invalidArgument,
                    "the file for the output '\(name)' is already being written by \(who); give it its own"
                )
            }
        }
    }
}
