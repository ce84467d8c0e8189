import CaptureSystem
import Glibc

/// The parts of the file system that the doctor looks at, below a root that tests choose.
struct Machine {
    /// Empty for the machine itself.
    var root = ""

    /// Whether something is there.
    func exists(_ path: String) -> Bool {
        unsafe Glibc.access(root + path, F_OK) == 0
    }

    /// The first of some paths that is there.
    func first(of paths: [String]) -> String? {
        paths.first { exists($0) }
    }

    /// The names in a folder; none when it cannot be read.
    func names(in folder: String) -> [String] {
        Files.names(in: root + folder).sorted()
    }

    /// Where a symbolic link points.
    func link(at path: String) -> String? {
        Files.link(at: root + path)
    }

    /// The start of a file, at most so many bytes, without white space at its end; empty when it cannot be read. A pipe is
    /// not waited for.
    func text(of path: String, limit: Int = 4096) -> String {
        let file = unsafe open(root + path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        return unsafe withUnsafeTemporaryAllocation(byteCount: limit, alignment: 1) { buffer in
            let count = unsafe read(file, buffer.baseAddress, buffer.count)
            guard count > 0 else { return "" }
            var text = unsafe String(decoding: buffer.prefix(count), as: UTF8.self)
            while let last = text.last, last.isWhitespace { text.removeLast() }
            return text
        }
    }
}

/// Users and groups by name.
enum Accounts {
    /// The uid of a name.
    static func user(named name: String) -> UInt32? {
        guard let entry = unsafe getpwnam(name) else { return nil }
        return unsafe entry.pointee.pw_uid
    }

    /// The name of a uid, or the number where it has none.
    static func user(_ number: uid_t) -> String {
        guard let entry = unsafe getpwuid(number), let name = unsafe entry.pointee.pw_name else { return "\(number)" }
        return unsafe String(cString: name)
    }

    static func group(_ number: gid_t) -> String {
        guard let entry = unsafe getgrgid(number), let name = unsafe entry.pointee.gr_name else { return "\(number)" }
        return unsafe String(cString: name)
    }
}
