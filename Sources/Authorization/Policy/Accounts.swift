import Glibc

/// What the system's database says of users and groups. Thread-safe.
struct Accounts: Sendable {
    /// What a look came to.
    enum Look<Value: Hashable & Sendable>: Hashable, Sendable {
        case found(Value)
        case absent
        /// The database could not be asked.
        case failed
    }

    /// The number of a user's name.
    var user: @Sendable (String) -> Look<UInt32>
    /// The name of a user's number.
    var name: @Sendable (UInt32) -> Look<String>
    /// The number of a group's name.
    var group: @Sendable (String) -> Look<UInt32>
    /// The groups of a user, by number.
    var groups: @Sendable (UInt32) -> Look<Set<UInt32>>

    /// The system's own: getpwnam_r(3), getgrnam_r(3), getgrouplist(3).
    static let system = Accounts(
        user: { name in
            unsafe look(passwd(), { unsafe getpwnam_r(name, $0, $1, $2, $3) }, { unsafe $0.pw_uid })
        },
        name: { user in
            unsafe look(passwd(), { unsafe getpwuid_r(user, $0, $1, $2, $3) }, { unsafe String(cString: $0.pw_name) })
        },
        group: { name in
            unsafe look(Glibc.group(), { unsafe getgrnam_r(name, $0, $1, $2, $3) }, { unsafe $0.gr_gid })
        },
        groups: { user in
            unsafe look(passwd(), { unsafe getpwuid_r(user, $0, $1, $2, $3) }, { unsafe memberships(of: $0) })
        }
    )

    private typealias Ask<Entry> = (
        UnsafeMutablePointer<Entry>, UnsafeMutablePointer<CChar>, Int,
        UnsafeMutablePointer<UnsafeMutablePointer<Entry>?>
    ) -> Int32

    private static func look<Entry, Value>(
        _ empty: Entry,
        _ ask: Ask<Entry>,
        _ read: (Entry) -> Value
    ) -> Look<Value> {
        var entry = empty
        var found: UnsafeMutablePointer<Entry>?
        // A group's entry has the names of all its members: there is no limit to know.
        for size in [4096, 65536, 1 << 20] {
            var room = [CChar](repeating: 0, count: size)
            let answer = unsafe room.withUnsafeMutableBufferPointer { room -> Look<Value>? in
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
