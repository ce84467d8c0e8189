import Glibc

extension ExecutableFile {
    /// The file at a path.
    ///
    /// - Parameters:
    ///   - path: Absolute, without symbolic links, as `/proc/PID/exe` gives it.
    ///   - root: The root that it is looked for below: empty for this process's own, `/proc/1/root` for the system's.
    /// - Returns: `nil` when there is no regular file or it cannot be examined.
    public static func inspect(_ path: String, below root: String = "") -> ExecutableFile? {
        guard case .found(let file) = look(path, below: root) else { return nil }
        return file
    }

    /// What looking at a path came to.
    enum Look {
        case found(ExecutableFile)
        /// There is something else or nothing.
        case absent
        /// A folder on the way is closed to this process, as a home directory is.
        case hidden
    }

    static func look(_ path: String, below root: String) -> Look {
        guard path.hasPrefix("/") else { return .absent }
        var status = stat()
        guard unsafe lstat(root + path, &status) == 0 else { return errno == EACCES ? .hidden : .absent }
        guard status.st_mode & S_IFMT == S_IFREG else { return .absent }
        let file = ExecutableFile(
            path: path,
            device: UInt64(status.st_dev),
            inode: UInt64(status.st_ino),
            changed: FileStamp.nanoseconds(status.st_ctim),
            isProtected: isRootsAlone(status) && areFoldersRootsAlone(above: path, below: root)
        )
        return .found(file)
    }

    private static func areFoldersRootsAlone(above path: String, below root: String) -> Bool {
        var folder = path
        while let slash = folder.lastIndex(of: "/") {
            folder = String(folder[..<slash])
            var status = stat()
            guard unsafe lstat(root + (folder.isEmpty ? "/" : folder), &status) == 0,
                status.st_mode & S_IFMT == S_IFDIR,
                isRootsAlone(status)
            else { return false }
        }
        return true
    }

    private static func isRootsAlone(_ status: stat) -> Bool {
        status.st_uid == 0 && status.st_mode & 0o022 == 0
    }
}
