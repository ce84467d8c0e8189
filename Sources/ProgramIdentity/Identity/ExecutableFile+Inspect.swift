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
    package enum Look {
        case found(ExecutableFile)
        /// There is something else or nothing.
        case absent
        /// A folder on the way is closed to this process, as a home directory is.
        case hidden
    }

    package static func look(_ path: String, below root: String) -> Look {
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

    /// The place by which somebody else could put another file at a path: the file, or the nearest of the folders above it,
    /// that belongs to neither root nor the user, or that others can write to. `nil` where only these two can.
    ///
    /// - Parameters:
    ///   - path: Absolute, without symbolic links.
    ///   - user: Whose file it is to be.
    ///   - root: The root that it is looked for below; empty for this process's own.
    public static func placeOpenToOthers(_ path: String, than user: UInt32, below root: String = "") -> String? {
        ([path] + folders(above: path)).first { place in
            var status = stat()
            guard unsafe lstat(root + place, &status) == 0, status.st_uid == 0 || status.st_uid == user else {
                return true
            }
            // A sticky folder, as /tmp, lets nobody rename what is another's.
            if status.st_mode & S_IFMT == S_IFDIR, status.st_mode & S_ISVTX != 0 { return false }
            // Many systems give each user a group of the same number, with nobody else in it.
            let isOwnGroup = status.st_gid == user
            return status.st_mode & (isOwnGroup ? 0o002 : 0o022) != 0
        }
    }

    /// Whether everybody may reach a file and run it, so that to say what it is tells nobody anything.
    package static func isForEverybody(_ path: String, below root: String) -> Bool {
        ([path] + folders(above: path)).allSatisfy { place in
            var status = stat()
            return unsafe lstat(root + place, &status) == 0 && status.st_mode & 0o001 != 0
        }
    }

    /// The folders above a path, the nearest first.
    private static func folders(above path: String) -> [String] {
        var folders: [String] = []
        var folder = path[...]
        while let slash = folder.lastIndex(of: "/") {
            folder = folder[..<slash]
            folders.append(folder.isEmpty ? "/" : String(folder))
        }
        return folders
    }

    private static func areFoldersRootsAlone(above path: String, below root: String) -> Bool {
        folders(above: path).allSatisfy { folder in
            var status = stat()
            return unsafe lstat(root + folder, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
                && isRootsAlone(status)
        }
    }

    private static func isRootsAlone(_ status: stat) -> Bool {
        status.st_uid == 0 && status.st_mode & 0o022 == 0
    }
}
