import Glibc

/// Which state of a file it is: every write changes it, once the clock of the file system has gone on.
struct StoreStamp: Hashable, Sendable {
    private var device: UInt64
    private var inode: UInt64
    private var size: Int64
    private var modified: Int64
    private var changed: Int64

    /// Of the file at a path; `nil` when there is none.
    init?(_ path: String) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return nil }
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        size = Int64(status.st_size)
        modified = StoreStamp.nanoseconds(status.st_mtim)
        changed = StoreStamp.nanoseconds(status.st_ctim)
    }

    /// Whether its last change is so long ago that another one would be seen.
    ///
    /// - Parameter wall: What time it is, in milliseconds since 1970.
    func isSettled(at wall: Int64) -> Bool {
        max(modified, changed) / 1_000_000 < wall - 100
    }

    private static func nanoseconds(_ time: timespec) -> Int64 {
        Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
