import Authorization
import CaptureCore
import Glibc

/// Names and numbers of users.
enum Users {
    /// The name of a uid, or the number where it has none.
    static func name(of uid: UInt32) -> String {
        var entry = unsafe passwd()
        var found: UnsafeMutablePointer<passwd>?
        var room = [CChar](repeating: 0, count: 4096)
        let code = unsafe getpwuid_r(uid, &entry, &room, room.count, &found)
        guard code == 0, unsafe found != nil, let name = unsafe entry.pw_name else { return String(uid) }
        return unsafe String(cString: name)
    }

    /// The uid of a name or a number; of the caller itself for an empty one.
    ///
    /// - Throws: `.invalidArgument` for a user that does not exist.
    static func id(of name: String, caller: ClientIdentity) throws(CaptureError) -> UInt32 {
        if name.isEmpty { return caller.user }
        if let number = UInt32(name) { return number }
        var entry = unsafe passwd()
        var found: UnsafeMutablePointer<passwd>?
        var room = [CChar](repeating: 0, count: 4096)
        let code = unsafe getpwnam_r(name, &entry, &room, room.count, &found)
        guard code == 0, unsafe found != nil else {
            throw CaptureError(.invalidArgument, "there is no user '\(DisplayText.neutralized(name, limit: 64))'")
        }
        return unsafe entry.pw_uid
    }
}
