import CaptureBus

/// How the daemon sees this program.
public struct ProgramIdentity: Hashable, Sendable {
    /// The id that consent is stored under, as in `exe:/usr/bin/tool`.
    public var program: String
    /// How sure that is: `sandboxed`, `service`, `user` or `claimed`.
    public var tier: String
    /// The user's name.
    public var user: String
    /// The user's number.
    public var userID: UInt32
    /// The process's number.
    public var processID: UInt32
    /// Whether the process was found by its number alone, since the bus gives no descriptor of it.
    public var isByPid: Bool
    /// What the identity is made of, in words.
    public var detail: String
    /// The unit or scope that it runs in; `nil` for none, as with the following.
    public var unit: String?
    /// Its login session.
    public var session: String?
    /// Its sandbox, as in `Flatpak instance 12`.
    public var sandbox: String?
    /// Its connection's security label.
    public var label: String?
    /// The file that it runs.
    public var file: ProgramFile?
}

/// The file of a program.
public struct ProgramFile: Hashable, Sendable {
    /// Its path.
    public var path: String
    /// The device that it lies on (`st_dev`).
    public var device: UInt64
    /// Its inode there (`st_ino`).
    public var inode: UInt64
    /// When it was last changed (`st_ctim`), in nanoseconds since 1970; `nil` where that does not matter, since only root can
    /// put another file in its place, and for answers of before that was kept.
    public var changed: Int64?
    /// Whether only root can put another file in its place.
    public var isProtected: Bool
}

extension ProgramFile {
    /// The file among an identity's or an answer's facts; `nil` when there is none.
    init?(_ facts: [String: BusValue]) {
        guard let path = facts["executable"]?.text, !path.isEmpty, let device = facts["device"]?.unsigned,
            let inode = facts["inode"]?.unsigned
        else { return nil }
        self.path = path
        self.device = device
        self.inode = inode
        changed = facts["changed"]?.integer
        isProtected = facts["isProtected"]?.boolean ?? false
    }
}
