/// The file that a process runs, as `/proc/PID/exe` leads to it.
public struct ExecutableFile: Hashable, Sendable {
    /// Its absolute path.
    public var path: String
    /// The device that it lies on (`st_dev`).
    public var device: UInt64
    /// Its inode there (`st_ino`).
    public var inode: UInt64
    /// When it was last changed (`st_ctim`), in nanoseconds since 1970, where that tells it from another file: `nil` for
    /// one that is protected, and where it is not known.
    ///
    /// A number of the disk is given again when its file is removed, and kept when the file is written over. The kernel
    /// renews this time then, and when the file's mode, owner, labels, name or number of links change. Two file systems
    /// are exceptions: one that a user serves (FUSE) says what it likes, and tmpfs leaves the time as it was when the file
    /// is written through memory that was read before. So this protects a user's file from other users only together with
    /// `placeOpenToOthers`.
    public var changed: Int64?
    /// Whether only root can put another file there: the file and every folder above it belong to root and are not
    /// writable by anybody else.
    public var isProtected: Bool

    /// A file of the given properties.
    public init(path: String, device: UInt64, inode: UInt64, changed: Int64? = nil, isProtected: Bool) {
        self.path = path
        self.device = device
        self.inode = inode
        self.changed = isProtected ? nil : changed
        self.isProtected = isProtected
    }

    /// Whether it runs other programs' words, and so tells nothing of what runs.
    public var isInterpreter: Bool { Interpreters.contains(path) }

    /// Whether it runs other programs' words even where a script was expected. A script may be called `node.py`.
    public var isNoScript: Bool {
        guard isInterpreter, !isProtected else { return isInterpreter }
        let name = path.split(separator: "/").last ?? ""
        guard let point = name.lastIndex(of: ".") else { return true }
        return name[name.index(after: point)...].allSatisfy { $0.isNumber }
    }

    /// Whether this is the same program as another file at the same path.
    ///
    /// A package upgrade replaces the file under a path that only root can write: the same program. Where a user can
    /// write, another device, inode or time of change is another program, and so is a file of which the time is not known:
    /// a file that was given another mode or another link counts as a new one, too.
    public func isSameProgram(as other: ExecutableFile) -> Bool {
        guard isInPlace(of: other) else { return false }
        if isProtected && other.isProtected { return true }
        guard let changed, let others = other.changed else { return false }
        return changed == others
    }

    /// Whether this lies where another file at the same path does, whatever became of its content.
    public func isInPlace(of other: ExecutableFile) -> Bool {
        guard path == other.path else { return false }
        return (isProtected && other.isProtected) || (device == other.device && inode == other.inode)
    }
}
