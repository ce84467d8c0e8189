import CLinux
import Glibc

/// The access control list of a file, by which single users and groups may open it: acl(5), in the form in which
/// getxattr(2) gives it.
///
/// The names in it count as far as its mask lets them, which is what stat(2) shows as the group's permissions.
public struct AccessList: Hashable, Sendable {
    /// Users, by uid, that may read or write.
    public var users: [UInt32] = []
    /// Groups, by gid, that may read or write.
    public var groups: [UInt32] = []
    /// Whether the file's own group may.
    public var ownGroup = false

    /// Reads the list of a file: getxattr(2).
    ///
    /// - Returns: `nil` when the file has none, its file system knows none, or it cannot be looked at.
    public init?(of path: String) {
        // A list that is longer names hundreds.
        let bytes = unsafe withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 4) { buffer -> [UInt8]? in
            let count = unsafe clinux_access_list(path, buffer.baseAddress, buffer.count)
            return count < 0 ? nil : unsafe Array(buffer.prefix(count))
        }
        guard let bytes else { return nil }
        self.init(bytes)
    }

    /// Takes a list apart: a version, then entries of tag, permissions and id.
    ///
    /// - Returns: `nil` when it is of another form.
    init?(_ bytes: [UInt8]) {
        func number(_ place: Int, _ size: Int) -> UInt32 {
            (0..<size).reduce(0) { $0 | UInt32(bytes[place + $1]) << (8 * UInt32($1)) }
        }
        guard bytes.count >= 4, bytes.count % 8 == 4, number(0, 4) == 2 else { return nil }
        let entries = stride(from: 4, to: bytes.count, by: 8).map {
            (tag: number($0, 2), may: number($0 + 2, 2), id: number($0 + 4, 4))
        }
        // Read is 4, write is 2.
        let mask = entries.first { $0.tag == 0x10 }?.may ?? 6
        for entry in entries where entry.may & mask & 6 != 0 {
            switch entry.tag {
            case 0x02: users.append(entry.id)
            case 0x04: ownGroup = true
            case 0x08: groups.append(entry.id)
            default: continue
            }
        }
    }

    /// Gives an open file the list of another one; nothing for a file without one.
    ///
    /// - Throws: When the file system refuses.
    public static func copy(from path: String, to file: Descriptor) throws(SystemError) {
        do throws(SystemError) {
            try SystemError.check("copy the access list of \(path)") {
                unsafe clinux_copy_access_list(path, file.descriptor)
            }
        } catch {
            guard error.errno == ENODATA || error.errno == ENOTSUP else { throw error }
        }
    }

    /// Removes the list of a file, so that its mode alone counts: removexattr(2). Idempotent.
    public static func remove(from path: String) throws(SystemError) {
        do throws(SystemError) {
            try SystemError.check("remove the access list of \(path)") { unsafe clinux_remove_access_list(path) }
        } catch {
            guard error.errno == ENODATA || error.errno == ENOTSUP else { throw error }
        }
    }
}
