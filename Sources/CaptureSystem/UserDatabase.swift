public import CaptureCore
import Glibc

/// The system's database of users and groups: getpwnam_r(3), getpwuid_r(3), getgrnam_r(3), getgrgid_r(3),
/// getgrouplist(3).
///
/// Thread-safe. May block for as long as a directory service takes to answer.
public enum UserDatabase {
    /// A user.
    public struct User: Hashable, Sendable {
        /// The number.
        public var number: UInt32
        /// The name.
        public var name: String
        /// The login shell's path; empty for the system's usual one.
        public var shell: String
    }

    /// The user of a name.
    public static func user(named name: String) -> Lookup<User> {
        unsafe look(passwd(), { unsafe getpwnam_r(name, $0, $1, $2, $3) }, { unsafe User($0) })
    }

    /// The user of a number.
    public static func user(_ number: UInt32) -> Lookup<User> {
        unsafe look(passwd(), { unsafe getpwuid_r(number, $0, $1, $2, $3) }, { unsafe User($0) })
    }

    /// The number of a group's name.
    public static func group(named name: String) -> Lookup<UInt32> {
        unsafe look(Glibc.group(), { unsafe getgrnam_r(name, $0, $1, $2, $3) }, { unsafe $0.gr_gid })
    }

    /// The name of a group's number.
    public static func group(_ number: UInt32) -> Lookup<String> {
        unsafe look(
            Glibc.group(),
            { unsafe getgrgid_r(number, $0, $1, $2, $3) },
            { unsafe String(cString: $0.gr_name) }
        )
    }

    /// The groups that a user is a member of, by number.
    public static func groups(of user: UInt32) -> Lookup<Set<UInt32>> {
        unsafe look(passwd(), { unsafe getpwuid_r(user, $0, $1, $2, $3) }, { unsafe memberships(of: $0) })
    }

    private typealias Ask<Entry> = (
        UnsafeMutablePointer<Entry>, UnsafeMutablePointer<CChar>, Int,
        UnsafeMutablePointer<UnsafeMutablePointer<Entry>?>
    ) -> Int32

    private static func look<Entry, Value>(
        _ empty: Entry,
        _ ask: Ask<Entry>,
        _ read: (Entry) -> Value
    ) -> Lookup<Value> {
        var entry = empty
        var found: UnsafeMutablePointer<Entry>?
        // A group's entry has the names of all its members: there is no limit to know.
        for size in [4096, 65536, 1 << 20] {
            var room = [CChar](repeating: 0, count: size)
            // The strings lie in `room`, so they are read while it is there.
            let answer = unsafe room.withUnsafeMutableBufferPointer { room -> Lookup<Value>? in
                guard let start = room.baseAddress else { return .failed }
                var code = unsafe ask(&entry, start, size, &found)
                while code == EINTR { code = unsafe ask(&entry, start, size, &found) }
                if code == ERANGE { return nil }
                guard code == 0 || code == ENOENT || code == ESRCH else { return .failed }
                guard code == 0, unsafe found != nil else { return .absent }
                return .found(read(entry))
            }
            if let answer { return answer }
        }
        return .failed
    }

    private static func memberships(of entry: passwd) -> Set<UInt32> {
        var count: Int32 = 64
        while true {
            var numbers = [gid_t](repeating: 0, count: Int(count))
            let room = count
            let code = unsafe getgrouplist(entry.pw_name, entry.pw_gid, &numbers, &count)
            if code >= 0 { return Set(numbers.prefix(Int(count))) }
            // It says how many there are; where it does not, twice as many.
            count = max(count, room * 2)
        }
    }
}

extension UserDatabase.User {
    fileprivate init(_ entry: passwd) {
        unsafe self.init(
            number: entry.pw_uid,
            name: String(cString: entry.pw_name),
            shell: String(cString: entry.pw_shell)
        )
    }
}
