import CaptureKit
import Glibc

/// Folders and small files of an export.
enum MediaFolder {
    /// What is at a path, links not followed; `nil` for nothing.
    static func kind(of path: String) -> mode_t? {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return nil }
        return status.st_mode & S_IFMT
    }

    /// Makes a folder with all above it, unless it is there.
    static func make(_ path: String) throws(CaptureError) {
        if path.isEmpty || path == "/" { return }
        if unsafe mkdir(path, 0o777) == 0 { return }
        switch errno {
        case EEXIST:
            var status = stat()
            guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
                throw CaptureError(.inputOutput, "\(Printable.text(path, limit: 1000)) exists and is not a folder")
            }
        case ENOENT:
            guard let slash = path.lastIndex(of: "/") else { throw FileCopy.failure(path, "cannot be made") }
            try make(String(path[..<slash]))
            if unsafe mkdir(path, 0o777) != 0, errno != EEXIST { throw FileCopy.failure(path, "cannot be made") }
        default: throw FileCopy.failure(path, "cannot be made")
        }
    }

    /// Makes sure that files can be put into a folder, which may be to be made with some above it; makes nothing.
    static func checkPlace(_ path: String) throws(CaptureError) {
        var place = path
        var status = stat()
        while unsafe stat(place, &status) != 0, [ENOENT, ENOTDIR].contains(errno), place != "/", place != "." {
            while place.count > 1, place.hasSuffix("/") { place.removeLast() }
            let above = place.lastIndex(of: "/").map { place[..<$0] } ?? "."
            place = above.isEmpty ? "/" : String(above)
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw CaptureError(.inputOutput, "\(Printable.text(place, limit: 1000)) is not a folder")
        }
        if unsafe access(place, W_OK | X_OK) != 0 { throw FileCopy.failure(place, "cannot be written to") }
    }

    /// Has the names in a folder on the disk.
    static func sync(_ path: String) throws(CaptureError) {
        let folder: Descriptor
        do {
            folder = try Descriptor.open(path, O_RDONLY | O_DIRECTORY)
        } catch {
            throw CaptureError(.inputOutput, "\(Printable.text(path, limit: 1000)) cannot be opened: \(error)")
        }
        try FileCopy.sync(folder, path)
    }

    /// The names in a folder in their order, without `.` and `..`, and those that are not UTF-8, as well as they can be
    /// shown.
    ///
    /// - Throws: `inputOutput` when it cannot be read.
    static func names(in path: String) throws(CaptureError) -> (names: [String], others: [String]) {
        guard let directory = unsafe opendir(path) else { throw FileCopy.failure(path, "cannot be read") }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        var others: [String] = []
        while let entry = unsafe readdir(directory) {
            let bytes = unsafe withUnsafeBytes(of: entry.pointee.d_name) { unsafe Array($0.prefix { $0 != 0 }) }
            guard let name = String(validating: bytes, as: UTF8.self) else {
                others.append(String(decoding: bytes, as: UTF8.self))
                continue
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return (names.sorted(), others.sorted())
    }

    /// The bytes of a regular file; `nil` when it cannot be read or has more than `limit`.
    static func text(of path: String, limit: Int) -> [UInt8]? {
        guard let file = try? Descriptor.open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK), file.identity != nil else {
            return nil
        }
        return try? file.readAll(limit: limit)
    }

    /// Writes a file, on disk when this returns.
    ///
    /// - Parameter overwrite: Whether one that is there is replaced, instead of being an error.
    static func write(_ bytes: [UInt8], to path: String, overwrite: Bool = false) throws(CaptureError) {
        let file = try OutputFile(creating: path, overwrite: overwrite)
        try unsafe bytes.withUnsafeBufferPointer { (bytes) throws(CaptureError) in
            try unsafe FileCopy.write(UnsafeRawBufferPointer(bytes), to: file.descriptor)
        }
        try FileCopy.sync(file.descriptor, path)
        try file.keep()
    }

    /// Copies a content into a file that is not there yet, on disk when this returns.
    ///
    /// - Parameter check: Looks at its SHA-256 before it is there by its name; what it throws leaves nothing.
    /// - Returns: Its SHA-256.
    static func copy(
        _ content: Descriptor,
        to path: String,
        check: (String) throws(CaptureError) -> Void = { _ in }
    ) throws(CaptureError) -> String {
        let file = try OutputFile(creating: path)
        let hash = try FileCopy.copy(content, to: file.descriptor)
        try check(hash)
        try FileCopy.sync(file.descriptor, path)
        try file.keep()
        return hash
    }
}
