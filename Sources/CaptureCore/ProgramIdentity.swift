/// How the daemon sees this program.
public struct ProgramIdentity: Hashable, Sendable {
    /// The id that consent is stored under, as in `exe:/usr/bin/tool`.
    public var program: String
    /// How sure that is: `sandboxed`, `service`, `user` or `claimed`.
    public var tier = ""
    /// The user's name.
    public var user = ""
    /// The user's number.
    public var userID: UInt32 = 0
    /// The process's number.
    public var processID: UInt32 = 0
    /// Whether the process was found by its number alone, since the bus gives no descriptor of it.
    public var isByPid = true
    /// Its name for itself; text of the program's.
    public var name = ""
    /// The evidence that the identity is made of, in words.
    public var detail = ""
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

extension ProgramIdentity {
    /// An identity of which nothing is known.
    public init() { self.init(program: "") }
}

/// The file of a program.
public struct ProgramFile: Hashable, Sendable {
    /// Its path.
    public var path: String
    /// The device that it lies on (`st_dev`).
    public var device: UInt64 = 0
    /// Its inode there (`st_ino`).
    public var inode: UInt64 = 0
    /// When it was last changed (`st_ctim`), in nanoseconds since 1970. It is `nil` if it does not matter, since only root can
    /// put another file in its place, and for answers from before it was kept.
    public var changed: Int64?
    /// Whether only root can put another file in its place.
    public var isProtected = false
}

extension ProgramFile {
    /// A file of which nothing is known.
    public init() { self.init(path: "") }
}
