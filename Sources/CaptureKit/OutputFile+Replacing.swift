import CaptureSystem
import Glibc

extension OutputFile {
    /// Gives the file the owner, mode and access list of the one that it is about to replace.
    ///
    /// Only root can give a file to another owner. Where the group cannot be kept, the other one gets no access by it.
    func adopt() throws(CaptureError) {
        var old = stat()
        guard unsafe stat(place, &old) == 0, old.st_mode & S_IFMT == S_IFREG else { return }
        let file = descriptor.descriptor
        if fchown(file, old.st_uid, old.st_gid) != 0 { _ = fchown(file, .max, old.st_gid) }
        var new = stat()
        _ = unsafe fstat(file, &new)
        let isSameGroup = new.st_gid == old.st_gid
        do throws(SystemError) {
            try SystemError.check("set the mode of the new file") {
                fchmod(file, old.st_mode & (isSameGroup ? 0o777 : 0o707))
            }
            // Its mask is the mode's part for the group.
            if isSameGroup { try AccessList.copy(from: place, to: descriptor) }
        } catch {
            throw OutputFile.failure(path, "cannot be replaced as it is", error.errno)
        }
    }

    /// Refuses a file that a recorder writes: replaced, its recording would be lost.
    static func checkNotRecorded(_ path: String, _ place: String) throws(CaptureError) {
        // Who may not open it cannot ask.
        guard let file = try? Descriptor.open(place, O_RDONLY | O_NONBLOCK), FileLock.isTaken(file) else { return }
        throw CaptureError(.busy, "\(Printable.text(path)) is being recorded by another program; choose another name")
    }
}
