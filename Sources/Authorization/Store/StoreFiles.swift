import CaptureCore
import Glibc

/// The store's file and folder: who owns them, who may write them, and moving a new file into place.
enum StoreFiles {
    /// Makes the state directory when it is absent, and refuses one that others could have written to or can read.
    static func prepare(_ directory: String) throws(StoreFault) {
        if unsafe mkdir(directory, 0o700) != 0, errno != EEXIST {
            throw fault("the state directory \(directory) cannot be made")
        }
        var status = stat()
        guard unsafe lstat(directory, &status) == 0 else {
            throw fault("the state directory \(directory) cannot be examined")
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw StoreFault("the state directory \(directory) is not a folder", isOfFile: true)
        }
        guard status.st_uid == geteuid() else {
            throw StoreFault(
                "the state directory \(directory) belongs to uid \(status.st_uid) instead of \(geteuid()); "
                    + "fix it with: ",
                remedy: "chown \(geteuid()) '\(directory)'",
                isOfFile: true
            )
        }
        let mode = status.st_mode & 0o7777
        if mode & 0o077 == 0 { return }
        // A folder that was made for us a moment ago, as by mkdir, holds nothing that anybody could have forged.
        if mode & 0o022 == 0, try isEmpty(directory), unsafe chmod(directory, 0o700) == 0 { return }
        throw StoreFault(
            "the state directory \(directory) has mode \(String(mode, digits: 4, radix: 8)) instead of 0700, so that "
                + "others can reach the answers; fix it with: ",
            remedy: "chmod 0700 '\(directory)'",
            isOfFile: true
        )
    }

    /// Whether there is something at a path.
    static func exists(_ path: String) throws(StoreFault) -> Bool {
        var status = stat()
        if unsafe lstat(path, &status) == 0 { return true }
        if errno == ENOENT { return false }
        throw fault("\(path) cannot be examined")
    }

    /// Refuses a file that is not plainly ours, and tells which file it is.
    @discardableResult
    static func check(_ file: String, of kind: StoreKind) throws(StoreFault) -> FileIdentity {
        var status = stat()
        guard unsafe lstat(file, &status) == 0 else { throw fault("\(kind.name) \(file) cannot be examined") }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_nlink == 1 else {
            throw StoreFault.damage("\(kind.name) \(file) is not a regular file of one name", file, kind)
        }
        guard status.st_uid == geteuid() else {
            throw StoreFault(
                "\(kind.name) \(file) belongs to uid \(status.st_uid) instead of \(geteuid()); look at what is "
                    + "in it, then fix it with: ",
                remedy: "chown \(geteuid()) '\(file)'",
                isOfFile: true
            )
        }
        let mode = status.st_mode & 0o7777
        guard mode == 0o600 else {
            throw StoreFault(
                "\(kind.name) \(file) has mode \(String(mode, digits: 4, radix: 8)) instead of 0600; look at what is in "
                    + "it, then fix it with: ",
                remedy: "chmod 0600 '\(file)'",
                isOfFile: true
            )
        }
        guard status.st_size > 0 else {
            throw StoreFault.damage("\(kind.name) \(file) is empty: it was cut off", file, kind)
        }
        return FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    }

    /// Makes an empty file that only we can read and write.
    static func createEmpty(_ path: String) throws(StoreFault) {
        let file = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw fault("\(path) cannot be made") }
        close(file)
    }

    /// Removes a file if it is there.
    static func remove(_ path: String) throws(StoreFault) {
        if unsafe unlink(path) != 0, errno != ENOENT { throw fault("\(path) cannot be removed") }
    }

    /// Gives a finished file its name, and makes that last.
    static func moveIntoPlace(_ from: String, _ to: String, in directory: String) throws(StoreFault) {
        guard unsafe rename(from, to) == 0 else { throw fault("\(from) cannot be renamed to \(to)") }
        let folder = unsafe open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw fault("the state directory \(directory) cannot be opened") }
        defer { close(folder) }
        guard fsync(folder) == 0 else { throw fault("the state directory \(directory) cannot be synchronized") }
    }

    private static func isEmpty(_ directory: String) throws(StoreFault) -> Bool {
        guard let names = unsafe opendir(directory) else {
            throw fault("the state directory \(directory) cannot be listed")
        }
        defer { unsafe closedir(names) }
        var count = 0
        while unsafe readdir(names) != nil { count += 1 }
        return count <= 2
    }

    private static func fault(_ action: String) -> StoreFault {
        StoreFault("\(action): \(SmallFile.text(of: errno))", isOfFile: true)
    }
}
