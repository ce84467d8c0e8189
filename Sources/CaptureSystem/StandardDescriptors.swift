import Glibc

/// Descriptors 0, 1 and 2, which every program takes for standard input, output and error.
public enum StandardDescriptors {
    /// Opens /dev/null for those that are closed, as a shell's `<&-` leaves them. Otherwise the next file or socket that
    /// is opened gets such a number, and is read as input or written over with messages.
    ///
    /// Input is at its end then, writing to standard output fails with EBADF, and messages to standard error vanish. To be
    /// called first thing in `main`, before anything is opened and before there is another thread. A process that cannot
    /// open /dev/null ends with 74, since it cannot go on safely.
    public static func fill() {
        for (number, flags) in [(STDIN_FILENO, O_RDONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_WRONLY)] {
            guard fcntl(number, F_GETFD) == -1 else { continue }
            // The lowest free number is given out: those below are open by now.
            guard unsafe Glibc.open("/dev/null", flags) == number else { _exit(74) }
        }
    }

    /// Whether a descriptor is open for writing.
    public static func isWritable(_ number: Int32) -> Bool {
        let flags = fcntl(number, F_GETFL)
        return flags >= 0 && flags & O_ACCMODE != O_RDONLY
    }
}
