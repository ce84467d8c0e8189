import Authorization
import CaptureCore
import CaptureSystem
import Synchronization

/// Names and numbers of users.
enum Users {
    /// Names that were looked up. They save waiting for the user database, which may be on a network.
    private static let known = Mutex<[UInt32: String]>([:])
    private static let mostKnown = 4096

    /// The name of a uid, or its number if it has no name. Blocks unless the name is known. Identifying a caller makes
    /// its name known; call `learn` for other users first.
    static func name(of uid: UInt32) -> String {
        if let name = known.withLock({ $0[uid] }) { return name }
        return learn(uid)?.name ?? String(uid)
    }

    /// Looks a uid up and stores its name. Blocks.
    @discardableResult
    static func learn(_ uid: UInt32) -> UserDatabase.User? {
        let user = UserDatabase.user(uid).value
        known.withLock { known in
            if known.count >= mostKnown { known = [:] }
            known[uid] = user?.name ?? String(uid)
        }
        return user
    }

    /// Looks up the uids whose names are not known, on a thread of its own.
    static func learn(_ uids: some Sequence<UInt32>) async throws(CaptureError) {
        let unknown = known.withLock { known in Set(uids).filter { known[$0] == nil } }
        if unknown.isEmpty { return }
        try await WorkerThread.run("users") { unknown.forEach { learn($0) } }
    }

    /// The uid of a name or a number; the caller's own for an empty text. Blocks for a name.
    ///
    /// - Throws: `.invalidArgument` for a user that does not exist.
    static func id(of name: String, caller: ClientIdentity) throws(CaptureError) -> UInt32 {
        if name.isEmpty { return caller.user }
        if let number = UInt32(name) {
            // The system's word for nobody at all: what is stored under it would never be found again.
            if number == .max { throw CaptureError(.invalidArgument, "\(number) is not a user's number") }
            return number
        }
        guard case .found(let user) = UserDatabase.user(named: name) else {
            throw CaptureError(.invalidArgument, "there is no user '\(DisplayText.neutralized(name, limit: 64))'")
        }
        return user.number
    }

    /// As `id`, but looks a name up on a thread of its own, because the user database may be on a network.
    static func find(_ name: String, caller: ClientIdentity) async throws(CaptureError) -> UInt32 {
        if name.isEmpty || UInt32(name) != nil { return try id(of: name, caller: caller) }
        return try await WorkerThread.run("users") { () throws(CaptureError) in try id(of: name, caller: caller) }
    }
}

extension Accounts {
    /// The system's own.
    static let system = Accounts(
        user: { UserDatabase.user(named: $0).map(\.number) },
        name: { UserDatabase.user($0).map(\.name) },
        group: UserDatabase.group(named:),
        groups: UserDatabase.groups(of:)
    )
}
