import CaptureSystem
import Glibc

/// Of open(2): the file's place alone, neither to be read nor written. A macro of a macro, which does not import.
private let pathOnly: Int32 = 0o10_000_000

extension OutputFile {
    /// What a symbolic link at the end of a path leads to; the path itself where there is none.
    ///
    /// The kernel follows it, so that its refusal of other users' links in folders that everyone may write to, as
    /// `fs.protected_symlinks` has it, holds here too.
    ///
    /// - Throws: `CaptureError.Code.inputOutput` when the link cannot be followed.
    static func place(of path: String) throws(CaptureError) -> String {
        guard isLink(path) else { return path }
        do throws(SystemError) {
            let file = try Descriptor.open(path, pathOnly)
            let place = Files.link(at: "/proc/self/fd/\(file.descriptor)")
            // The name is that of the moment: of a file that was moved or removed since, nothing may be replaced.
            guard let place, try Descriptor.open(place, pathOnly).identity == file.identity else {
                throw SystemError("follow \(path)", errno: ESTALE)
            }
            return place
        } catch {
            throw unfollowed(path, error.errno)
        }
    }

    /// Refuses a link at the end of a path that leads to nothing that could be looked at.
    static func checkNoBrokenLink(_ path: String) throws(CaptureError) {
        guard isLink(path) else { return }
        var status = stat()
        guard unsafe stat(path, &status) != 0 else { return }
        throw unfollowed(path, errno)
    }

    private static func unfollowed(_ path: String, _ code: Int32) -> CaptureError {
        guard code == ENOENT, let target = Files.link(at: path) else {
            return failure(path, "is a symbolic link that cannot be followed", code)
        }
        return CaptureError(
            .inputOutput,
            "\(Printable.text(path)) is a symbolic link to \(Printable.text(target)), which is not there; "
                + "give the name of a file, or remove the link",
            errno: code
        )
    }

    private static func isLink(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }
}
