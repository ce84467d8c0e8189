import CLinux

/// The lock by which the one who records into a file tells others: an open file description's, fcntl(2).
///
/// Whoever passes a descriptor on passes the lock with it. It goes with the last descriptor, or by `release`.
public enum FileLock {
    /// Locks a file. A file system without locks locks nothing.
    ///
    /// - Returns: False if another one has it locked.
    public static func take(_ file: Descriptor) -> Bool { clinux_lock_file(file.descriptor, 0, 1) != 1 }

    /// Whether another open file description has a file locked.
    public static func isTaken(_ file: Descriptor) -> Bool { clinux_lock_file(file.descriptor, 1, 1) == 1 }

    /// Gives the lock back; nothing for a file that is not locked.
    public static func release(_ file: Descriptor) { _ = clinux_lock_file(file.descriptor, 0, 0) }
}
