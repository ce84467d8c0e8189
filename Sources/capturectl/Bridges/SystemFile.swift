import CaptureKit
import CaptureSystem
import Glibc

/// A file of the system's that is read and written whole. Thread-bound.
struct SystemFile {
    let machine: Machine
    let path: String

    /// What was there when it was read.
    struct Contents {
        var bytes: [UInt8]
        /// `nil` if there was no file.
        fileprivate var facts: stat?

        var exists: Bool { facts != nil }
    }

    private static let limit = 1 << 20

    /// Reads it.
    ///
    /// - Throws: `.inputOutput` if it is something else than a file of at most a mebibyte, or cannot be read.
    func read() throws(CaptureError) -> Contents {
        let file = unsafe open(machine.root + path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        if file < 0, errno == ENOENT { return Contents(bytes: [], facts: nil) }
        if file < 0, errno == ELOOP {
            throw failure("change", "it is a link; make it a file, or change what it leads to")
        }
        guard file >= 0 else { throw failure("read", code: errno) }
        defer { close(file) }
        var facts = stat()
        guard unsafe fstat(file, &facts) == 0 else { throw failure("read", code: errno) }
        guard facts.st_mode & S_IFMT == S_IFREG, facts.st_size < SystemFile.limit else {
            throw failure("read", "it is no file, or a very large one")
        }
        var bytes = [UInt8](repeating: 0, count: SystemFile.limit)
        var done = 0
        while true {
            let count = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe Glibc.read(file, buffer.baseAddress?.advanced(by: done), buffer.count - done)
            }
            if count < 0, errno == EINTR { continue }
            if count < 0 { throw failure("read", code: errno) }
            if count == 0 { break }
            done += count
            if done == bytes.count { throw failure("read", "it is a very large file") }
        }
        return Contents(bytes: Array(bytes.prefix(done)), facts: facts)
    }

    /// Writes it beside its place and moves it there, so that nobody ever reads half of it. It keeps its mode.
    ///
    /// - Parameter former: What was read before. If the file has changed since then, nothing is written.
    /// - Throws: `.inputOutput`; the file is then as it was.
    func write(_ bytes: [UInt8], over former: Contents? = nil) throws(CaptureError) {
        let target = machine.root + path
        let folder = String(target[..<(target.lastIndex(of: "/") ?? target.startIndex)])
        if unsafe mkdir(folder, 0o755) != 0, errno != EEXIST { throw failure("make the folder of", code: errno) }
        let fresh = target + ".captured-new"
        _ = unsafe unlink(fresh)
        let file = unsafe open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw failure("write", code: errno) }
        var done = 0
        var code: Int32 = 0
        while done < bytes.count, code == 0 {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.write(file, buffer.baseAddress?.advanced(by: done), buffer.count - done)
            }
            if count > 0 { done += count } else if count == 0 { code = ENOSPC } else if errno != EINTR { code = errno }
        }
        let mode = (former?.facts?.st_mode ?? 0o644) & 0o777
        if code == 0, fchmod(file, mode) != 0 || fsync(file) != 0 { code = errno }
        close(file)
        if code == 0, let former, !isAs(former) { code = EAGAIN }
        if code == 0, unsafe rename(fresh, target) != 0 { code = errno }
        if code == 0 {
            keep(folder)
            return
        }
        _ = unsafe unlink(fresh)
        throw code == EAGAIN
            ? failure("write", "somebody else changed it at the same time; try again") : failure("write", code: code)
    }

    /// Removes it. It may be gone already.
    func remove() throws(CaptureError) {
        if unsafe unlink(machine.root + path) != 0, errno != ENOENT { throw failure("remove", code: errno) }
    }

    private func isAs(_ former: Contents) -> Bool {
        var now = stat()
        guard unsafe lstat(machine.root + path, &now) == 0 else { return former.facts == nil && errno == ENOENT }
        guard let then = former.facts else { return false }
        return now.st_ino == then.st_ino && now.st_size == then.st_size && now.st_mtim.tv_sec == then.st_mtim.tv_sec
            && now.st_mtim.tv_nsec == then.st_mtim.tv_nsec
    }

    /// Has the disk keep a name.
    private func keep(_ folder: String) {
        let directory = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if directory < 0 { return }
        fsync(directory)
        close(directory)
    }

    private func failure(_ action: String, code: Int32) -> CaptureError {
        CaptureError(.inputOutput, "cannot \(action) \(path): \(SystemError.text(of: code))", errno: code)
    }

    private func failure(_ action: String, _ reason: String) -> CaptureError {
        CaptureError(.inputOutput, "cannot \(action) \(path): \(reason)")
    }
}
