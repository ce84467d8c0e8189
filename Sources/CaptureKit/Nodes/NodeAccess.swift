public import CaptureCore
import CaptureSystem
import Glibc

/// The users who may open a device node without the daemon: its owner, group, mode and access control list.
public struct NodeAccess: Hashable, Sendable {
    /// Whose it is, by uid.
    public var owner: UInt32
    /// Its group, by gid.
    public var group: UInt32
    /// The permission bits, as in 0o660.
    public var mode: UInt32
    /// Whether its group may open it.
    public var groupMay: Bool
    /// Whether everyone may.
    public var everyoneMay: Bool
    /// Users that its access control list lets in, as the one who sits at the machine.
    public var listedUsers: [UInt32]
    /// Groups that its access control list lets in.
    public var listedGroups: [UInt32]

    /// Looks at a node: stat(2), getxattr(2).
    ///
    /// - Returns: `nil` if the node does not exist.
    public init?(of path: String) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        owner = status.st_uid
        group = status.st_gid
        mode = status.st_mode & 0o777
        let list = AccessList(of: path)
        groupMay = list?.ownGroup ?? (mode & 0o060 != 0)
        everyoneMay = mode & 0o006 != 0
        let owner = owner
        // Root may anyway.
        listedUsers = list?.users.filter { $0 != 0 && $0 != owner } ?? []
        listedGroups = list?.groups ?? []
    }

    /// Whether nobody but this user, and root, may open it.
    public func isAlone(of user: UInt32) -> Bool {
        owner == user && !groupMay && !everyoneMay && listedUsers.isEmpty && listedGroups.isEmpty
    }

    /// Takes what a node's access control list gives away; its mode alone counts from then on. For root.
    ///
    /// - Throws: `CaptureError.Code.inputOutput`.
    public static func forgetList(of path: String) throws(CaptureError) {
        try CaptureError.wrap(.inputOutput, try AccessList.remove(from: path))
    }
}
