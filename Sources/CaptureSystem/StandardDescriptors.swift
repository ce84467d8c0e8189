import Glibc

/// Descriptors 0, 1 and 2, which every program uses as standard input, output and error.
public enum StandardDescriptors {
    /// Opens /dev/null for each one that is closed, as a shell's `<&-` leaves it. Otherwise the next file or socket
    /// gets that number, and the program reads it as input or writes messages into it.
    ///
    /// Input is then at its end, writes to standard output fail with EBADF, and messages to standard error vanish. Call
    /// this first in `main`, before anything is opened and before there is another thread. If /dev/null cannot be
    /// opened, the process exits with 74, because it cannot go on safely.
    public static func fill() {
        for (number, flags) in [(STDIN_FILENO, O_RDONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_WRONLY)] {
            guard fcntl(number, F_GETFD) == -1 else { continue }
            // open(2) takes the lowest free number, and the lower ones are open by now.
            guard unsafe Glibc.open("/dev/null", flags) == number else { _exit(74) }
        }
    }

    /// Whether a descriptor is open for writing.
    public static func isWritable(_ number: Int32) -> Bool {
        let flags = fcntl(number, F_GETFL)
        return flags >= 0 && flags & O_ACCMODE != O_RDONLY
    }
}
