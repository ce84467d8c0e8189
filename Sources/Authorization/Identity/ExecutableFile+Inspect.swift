import Glibc

extension ExecutableFile {
    /// The file at a path, as this process sees it.
    ///
    /// - Parameter path: Absolute, without symbolic links, as `/proc/PID/exe` gives it.
    /// - Returns: `nil` when there is no regular file or it cannot be examined.
    public static func inspect(_ path: String) -> ExecutableFile? {
        guard case .found(let file) = look(path) else { return nil }
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

    static func look(_ path: String) -> Look {
        guard path.hasPrefix("/") else { return .absent }
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return errno == EACCES ? .hidden : .absent }
        guard status.st_mode & S_IFMT == S_IFREG else { return .absent }
        let file = ExecutableFile(
            path: path,
            device: UInt64(status.st_dev),
            inode: UInt64(status.st_ino),
            isProtected: isRootsAlone(status) && areFoldersRootsAlone(above: path)
        )
        return .found(file)
    }

    private static func areFoldersRootsAlone(above path: String) -> Bool {
        var folder = path
        while let slash = folder.lastIndex(of: "/") {
            folder = String(folder[..<slash])
            var status = stat()
            guard unsafe lstat(folder.isEmpty ? "/" : folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR,
                isRootsAlone(status)
            else { return false }
        }
        return true
    }

    private static func isRootsAlone(_ status: stat) -> Bool {
        status.st_uid == 0 && status.st_mode & 0o022 == 0
    }
}
