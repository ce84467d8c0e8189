import Authorization
import CaptureCore
import Glibc

/// Names and numbers of users.
enum Users {
    /// The name of a uid, or the number where it has none.
    static func name(of uid: UInt32) -> String {
        unsafe look(uid) { unsafe String(cString: $0.pw_name) } ?? String(uid)
    }

    /// The login shell of a uid; nil where it has no entry.
    static func shell(of uid: UInt32) -> String? {
        unsafe look(uid) { unsafe String(cString: $0.pw_shell) }
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
        var entry = unsafe passwd()
        var found: UnsafeMutablePointer<passwd>?
        var room = [CChar](repeating: 0, count: 4096)
        let code = unsafe getpwnam_r(name, &entry, &room, room.count, &found)
        guard code == 0, unsafe found != nil else {
            throw CaptureError(.invalidArgument, "there is no user '\(DisplayText.neutralized(name, limit: 64))'")
        }
        return unsafe entry.pw_uid
    }

    private static func look(_ uid: UInt32, _ read: (passwd) -> String) -> String? {
        var entry = unsafe passwd()
        var found: UnsafeMutablePointer<passwd>?
        var room = [CChar](repeating: 0, count: 4096)
        // The strings lie in `room`, so they are read while it is there.
        return unsafe room.withUnsafeMutableBufferPointer { room in
            guard let start = room.baseAddress else { return nil }
            let code = unsafe getpwuid_r(uid, &entry, start, room.count, &found)
            guard code == 0, unsafe found != nil else { return nil }
            return unsafe read(entry)
        }
    }
}
