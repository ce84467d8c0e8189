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
        var facts = stat()
        var bytes: [UInt8]?
        do throws(SystemError) {
            let file = try Descriptor.open(machine.root + path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
            try SystemError.check("look at") { unsafe fstat(file.descriptor, &facts) }
            if facts.st_mode & S_IFMT == S_IFREG { bytes = try file.readAll(limit: SystemFile.limit) }
        } catch {
            if error.errno == ENOENT { return Contents(bytes: [], facts: nil) }
            if error.errno == ELOOP {
                throw failure("change", "it is a link; make it a file, or change what it leads to")
            }
            throw failure("read", code: error.errno)
        }
        guard let bytes else { throw failure("read", "it is no file, or a very large one") }
        return Contents(bytes: bytes, facts: facts)
    }

    /// Writes it beside its place and moves it there, so that nobody ever reads half of it. It keeps its mode.
    ///
    /// - Parameter former: What was read before. If the file has changed since then, nothing is written.
    /// - Throws: `.inputOutput`; the file is then as it was.
    func write(_ bytes: [UInt8], over former: Contents? = nil) throws(CaptureError) {
        let target = machine.root + path
        let folder = String(target[..<(target.lastIndex(of: "/") ?? target.startIndex)])
        if unsafe mkdir(folder, 0o755) == 0 {
            // Whatever is masked for root's files: everybody looks whether the lockdown is whole.
            if unsafe chmod(folder, 0o755) != 0 { throw failure("open the folder of", code: errno) }
        } else if errno != EEXIST {
            throw failure("make the folder of", code: errno)
        }
        let fresh = target + ".captured-new"
        _ = unsafe unlink(fresh)
        do throws(SystemError) {
            let file = try Descriptor.open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
            try file.write(all: bytes)
            let mode = (former?.facts?.st_mode ?? 0o644) & 0o777
            try SystemError.check("keep") { fchmod(file.descriptor, mode) }
            try SystemError.check("keep") { fsync(file.descriptor) }
            if let former, !isAs(former) { throw SystemError("write", errno: EAGAIN) }
            try SystemError.check("rename") { unsafe rename(fresh, target) }
        } catch {
            _ = unsafe unlink(fresh)
            throw error.errno == EAGAIN
                ? failure("write", "somebody else changed it at the same time; try again")
                : failure("write", code: error.errno)
        }
        keep(folder)
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
