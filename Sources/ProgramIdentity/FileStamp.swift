package import Glibc

/// Which file lies at a path and in which state. It differs after every change of the file's content, owner or mode.
package struct FileStamp: Hashable, Sendable {
    private let device: UInt64
    private let inode: UInt64
    private let size: Int64
    private let owner: UInt32
    private let mode: UInt32
    private let modified: Int64
    private let changed: Int64

    /// The stamp of what a path leads to now; `nil` when that is no regular file.
    package init?(of path: String) {
        var status = stat()
        guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        size = Int64(status.st_size)
        owner = status.st_uid
        mode = status.st_mode
        modified = FileStamp.nanoseconds(status.st_mtim)
        changed = FileStamp.nanoseconds(status.st_ctim)
    }

    /// Whether the next change would show: the kernel stamps files by a clock that stands still for some milliseconds,
    /// so that two changes in one of its ticks look alike.
    package func isSettled(at now: Int64) -> Bool {
        changed <= now - 2_000_000_000
    }

    /// The wall clock, by which the kernel stamps files.
    package static var now: Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return nanoseconds(time)
    }

    /// A time in nanoseconds. What comes from a file system of somebody's own may be any number, and goes around.
    package static func nanoseconds(_ time: timespec) -> Int64 {
        Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }
}
