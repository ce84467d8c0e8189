import CaptureCore
import Glibc

/// What can be done with the descriptor of a folder.
extension OwnedDescriptor {
    /// Opens a folder of ours below this one, which is made when it is absent.
    ///
    /// - Parameter isLasting: Whether its name is on disk when this returns.
    func subfolder(_ name: String, _ path: String, isLasting: Bool = false) throws(CaptureError) -> OwnedDescriptor {
        if unsafe mkdirat(number, name, 0o700) != 0, errno != EEXIST {
            throw LibraryCall.error("the folder \(path)/\(name) cannot be made", errno)
        }
        // Always, since who made it may have been cut off before this.
        if isLasting { try synchronize("the folder of \(path)/\(name)") }
        return try .open(name, in: number, O_RDONLY | O_DIRECTORY, "the folder \(path)/\(name)")
    }

    /// A folder below this one; `nil` when it is not there.
    func folder(_ name: String, _ what: @autoclosure () -> String) throws(CaptureError) -> OwnedDescriptor? {
        try file(name, what(), flags: O_DIRECTORY)
    }

    /// Opens a file in it for reading; `nil` when it is not there. One that is not a regular file or folder does not block.
    func file(
        _ name: String,
        _ what: @autoclosure () -> String,
        flags: Int32 = 0
    ) throws(CaptureError) -> OwnedDescriptor? {
        do throws(CaptureError) {
            return try .open(name, in: number, O_RDONLY | O_NONBLOCK | flags, what())
        } catch {
            if error.errno == ENOENT { return nil }
            throw error
        }
    }

    /// Whether there is something of a name in it.
    func has(_ name: String) throws(CaptureError) -> Bool {
        var status = stat()
        if unsafe fstatat(number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 { return true }
        if errno == ENOENT { return false }
        throw LibraryCall.error("the file \(name) cannot be examined", errno)
    }

    /// Removes a name in it.
    ///
    /// - Returns: Whether it was there.
    @discardableResult
    func unlink(_ name: String, _ what: @autoclosure () -> String) throws(CaptureError) -> Bool {
        if unsafe unlinkat(number, name, 0) == 0 { return true }
        if errno == ENOENT { return false }
        throw LibraryCall.error("\(what()) cannot be removed", errno)
    }

    /// Moves a file of another folder to `lost+found` in this one; when it returns that is on disk.
    ///
    /// - Parameters:
    ///   - path: Where this folder is.
    ///   - suffix: What is put behind its name.
    /// - Returns: Where it is now, as a path in this folder; `nil` when it was not there any more.
    func setAside(
        _ name: String,
        of source: OwnedDescriptor,
        _ path: String,
        suffix: String = ""
    ) throws(CaptureError) -> String? {
        guard try source.has(name) else { return nil }
        let target = try subfolder("lost+found", path, isLasting: true)
        var free = name + suffix
        var count = 1
        while try target.has(free) {
            count += 1
            free = "\(name)\(suffix)-\(count)"
        }
        try LibraryCall.check("the file \(name) cannot be set aside") {
            unsafe renameat(source.number, name, target.number, free)
        }
        try target.synchronize("the folder lost+found")
        try source.synchronize("the folder of \(name)")
        return "lost+found/\(free)"
    }

    /// The names in it, without `.` and `..`, in the order of their bytes.
    func names(_ what: @autoclosure () -> String) throws(CaptureError) -> [String] {
        // A descriptor of its own, since the position in it goes along and closing the list closes it.
        let copy = try OwnedDescriptor.open(".", in: number, O_RDONLY | O_DIRECTORY, what()).duplicate()
        guard let list = unsafe fdopendir(copy) else {
            let code = errno
            close(copy)
            throw LibraryCall.error("\(what()) cannot be listed", code)
        }
        defer { unsafe closedir(list) }
        var names: [String] = []
        errno = 0
        while let entry = unsafe readdir(list) {
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
            errno = 0
        }
        if errno != 0 { throw LibraryCall.error("\(what()) cannot be listed", errno) }
        return names.sorted()
    }
}
