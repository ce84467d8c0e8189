import Glibc

/// Whole small files, as text, with what the owner and mode say about who wrote them.
package enum SmallFile {
    /// What came of reading a file.
    package enum Outcome {
        /// Its text; bytes that are not UTF-8 are replaced.
        case text(String)
        /// There is no such file.
        case absent
        /// It is there and cannot be used; why, in words.
        case unusable(String)
    }

    /// Reads a regular file of at most `limit` bytes.
    ///
    /// - Parameters:
    ///   - path: Where it lies.
    ///   - limit: The most bytes.
    ///   - owners: The uids that may own it, without others being able to write to it; `nil` trusts anybody.
    package static func read(_ path: String, limit: Int, ownedBy owners: Set<UInt32>? = nil) -> Outcome {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard file >= 0 else {
            let code = errno
            return code == ENOENT || code == ENOTDIR ? .absent : .unusable("cannot be opened: \(text(of: code))")
        }
        defer { close(file) }
        var status = stat()
        guard unsafe fstat(file, &status) == 0 else { return .unusable("cannot be examined: \(text(of: errno))") }
        guard status.st_mode & S_IFMT == S_IFREG else { return .unusable("is not a regular file") }
        if let owners {
            guard owners.contains(status.st_uid) else {
                return .unusable("belongs to uid \(status.st_uid), which is not trusted here")
            }
            guard status.st_mode & 0o022 == 0 else { return .unusable("can be written by others than its owner") }
        }
        var bytes = [UInt8](repeating: 0, count: limit + 1)
        var filled = 0
        while filled < bytes.count {
            let count = unsafe bytes.withUnsafeMutableBytes {
                unsafe Glibc.read(file, $0.baseAddress.map { unsafe $0 + filled }, $0.count - filled)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return .unusable("cannot be read: \(text(of: errno))") }
            if count == 0 { break }
            filled += count
        }
        guard filled <= limit else { return .unusable("is larger than \(limit) bytes") }
        return .text(String(decoding: bytes[..<filled], as: UTF8.self))
    }

    /// Whether a path leads to `/dev/null`, by which administrators hide a file of the vendor's.
    package static func isNull(_ path: String) -> Bool {
        var status = stat()
        var null = stat()
        guard unsafe stat(path, &status) == 0, unsafe stat("/dev/null", &null) == 0 else { return false }
        return status.st_mode & S_IFMT == S_IFCHR && status.st_rdev == null.st_rdev
    }

    /// The system's words for an error number.
    package static func text(of code: Int32) -> String {
        unsafe String(cString: strerror(code))
    }
}
