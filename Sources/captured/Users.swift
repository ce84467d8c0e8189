import Authorization
import CaptureCore
import CaptureSystem

/// Names and numbers of users.
enum Users {
    /// The name of a uid, or the number where it has none.
    static func name(of uid: UInt32) -> String {
        UserDatabase.user(uid).value?.name ?? String(uid)
    }

    /// The login shell of a uid; nil where it has no entry.
    static func shell(of uid: UInt32) -> String? {
        UserDatabase.user(uid).value?.shell
    }

    /// The uid of a name or a number; of the caller itself for an empty one.
    ///
    /// - Throws: `.invalidArgument` for a user that does not exist.
    static func id(of name: String, caller: ClientIdentity) throws(CaptureError) -> UInt32 {
        if name.isEmpty { return caller.user }
        if let number = UInt32(name) {
            // The system's word for nobody at all: what is stored under it would never be found again.
            if number == .max { throw CaptureError(.invalidArgument, "\(number) is no user's number") }
            return number
        }
        guard case .found(let user) = UserDatabase.user(named: name) else {
            throw CaptureError(.invalidArgument, "there is no user '\(DisplayText.neutralized(name, limit: 64))'")
        }
        return user.number
    }
}

extension Accounts {
    /// The system's own.
    static let system = Accounts(
        user: { Look(UserDatabase.user(named: $0), \.number) },
        name: { Look(UserDatabase.user($0), \.name) },
        group: { Look(UserDatabase.group(named: $0), \.self) },
        groups: { Look(UserDatabase.groups(of: $0), \.self) }
    )
}

extension Accounts.Look {
    /// What a look came to, of which one part matters.
    fileprivate init<Entry>(_ look: UserDatabase.Look<Entry>, _ part: (Entry) -> Value) {
        switch look {
        case .found(let entry): self = .found(part(entry))
        case .absent: self = .absent
        case .failed: self = .failed
        }
    }
}
