import CLinux
import Glibc

/// Small reads of the file system, for sysfs, procfs and udev's links. Reentrant.
public enum Files {
    /// The names in a folder, without `.` and `..`, in the kernel's order; none when it cannot be read.
    public static func names(in folder: String) -> [String] {
        guard let directory = unsafe opendir(folder) else { return [] }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// Where a symbolic link points, as it is written: readlink(2); `nil` for anything else.
    public static func link(at path: String) -> String? {
        unsafe withUnsafeTemporaryAllocation(byteCount: Int(PATH_MAX), alignment: 1) { buffer in
            guard let start = buffer.baseAddress else { return nil }
            let count = unsafe readlink(path, start, buffer.count)
            return count < 0 ? nil : unsafe String(decoding: buffer.prefix(count), as: UTF8.self)
        }
    }

    /// A path without symbolic links: realpath(3); `nil` where nothing is.
    public static func resolved(_ path: String) -> String? {
        guard let found = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(found) }
        return unsafe String(cString: found)
    }

    /// The inode of a socket by what a link to it says, as `socket:[123]`; `nil` for another link.
    public static func socketInode(ofLink link: String) -> UInt32? {
        guard link.hasPrefix("socket:["), link.hasSuffix("]") else { return nil }
        return UInt32(link.dropFirst(8).dropLast())
    }

    /// The start of a file, at most so many bytes, without white space at its end; `nil` when it cannot be read. A pipe
    /// is not waited for.
    public static func line(of path: String, limit: Int = 4096) -> String? {
        guard let file = try? Descriptor.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY) else { return nil }
        return unsafe withUnsafeTemporaryAllocation(byteCount: limit, alignment: 1) { buffer in
            guard let count = unsafe try? file.read(into: buffer) else { return nil }
            var text = unsafe Substring(String(decoding: buffer.prefix(count), as: UTF8.self))
            while let last = text.last, last.isWhitespace { text.removeLast() }
            return String(text)
        }
    }

    /// A whole file as text, bytes that are not UTF-8 replaced; `nil` when it cannot be read or has more than `limit`
    /// bytes.
    public static func text(of path: String, limit: Int) -> String? {
        guard let file = try? Descriptor.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY),
            let bytes = try? file.readAll(limit: limit)
        else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether there is a file that this process may run, links followed: access(2).
    public static func isProgram(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && access(path, X_OK) == 0
    }

    /// The device number behind a node, links followed; `nil` when there is no node. Does not wait for a file system's server.
    public static func deviceNumber(of path: String) -> UInt64? {
        var file = clinux_file()
        guard unsafe clinux_known_file(AT_FDCWD, path, &file) == 0, file.mode & S_IFMT == S_IFCHR else { return nil }
        return file.node
    }
}
