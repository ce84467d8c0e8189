/// The file that a process runs, as `/proc/PID/exe` leads to it.
public struct ExecutableFile: Hashable, Sendable {
    /// Its absolute path.
    public var path: String
    /// The device that it lies on (`st_dev`).
    public var device: UInt64
    /// Its inode there (`st_ino`).
    public var inode: UInt64
    /// Whether only root can put another file there: the file and every folder above it belong to root and are not
    /// writable by anybody else.
    public var isProtected: Bool

    /// A file of the given properties.
    public init(path: String, device: UInt64, inode: UInt64, isProtected: Bool) {
        self.path = path
        self.device = device
        self.inode = inode
        self.isProtected = isProtected
    }

    /// Whether it runs other programs' words, and so tells nothing of what runs.
    public var isInterpreter: Bool { Interpreters.contains(path) }

    /// Whether this is the same program as another file at the same path.
    ///
    /// A package upgrade replaces the file under a path that only root can write: the same program. Where a user can
    /// write, another device or inode is another program.
    public func isSameProgram(as other: ExecutableFile) -> Bool {
        guard path == other.path else { return false }
        if isProtected && other.isProtected { return true }
        return device == other.device && inode == other.inode
    }
}
