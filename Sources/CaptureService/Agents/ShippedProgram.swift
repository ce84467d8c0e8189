import Authorization
import Glibc

/// A program that ships with this daemon: the command line, at which alone a person answers for the program itself, and
/// the bridge of PipeWire's clients.
struct ShippedProgram: Sendable {
    /// Where it lies for this process.
    let path: String
    /// Where programs' files are looked for.
    let root: SystemRoot

    /// Whether a program runs that very file, as it lies there now, which belongs to root or to the daemon's own user:
    /// a copy of it, or another file under its name, is somebody else.
    func isRun(by identity: ClientIdentity) -> Bool {
        var status = stat()
        guard let executable = identity.running, unsafe lstat(root.prefix + root.path(of: path), &status) == 0,
            status.st_mode & S_IFMT == S_IFREG, status.st_uid == 0 || status.st_uid == geteuid()
        else { return false }
        return executable.device == UInt64(status.st_dev) && executable.inode == UInt64(status.st_ino)
    }
}
