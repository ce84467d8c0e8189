import CaptureCore
import Glibc

/// The files of contents: `contents/ab/HASH`, where `ab` are the first digits of the hash.
extension LibraryFolder {
    /// Gives a finished file in `transit` a second name among the contents; when it returns that is on disk. A file that
    /// is there already is replaced, and there is no moment without one.
    ///
    /// A second name and not another one: what fails after this, or is cut off, leaves the file where it was.
    func linkIn(_ name: String, as hash: String) throws(CaptureError) {
        let what = "the content \(hash)"
        let part = try LibraryFolder.subfolder(
            String(hash.prefix(2)),
            of: contents,
            path + "/contents",
            isLasting: true
        )
        // One that is left behind there goes when the library is opened next.
        let second = LibraryID.make()
        try LibraryCall.check("\(what) cannot be put into place") {
            unsafe linkat(transit.number, name, transit.number, second, 0)
        }
        let result = unsafe renameat(transit.number, second, part.number, hash)
        let code = errno
        // It is still there when that failed, and when both were names of the same file already.
        try LibraryFolder.unlink(second, in: transit, what)
        guard result == 0 else { throw LibraryCall.error("\(what) cannot be put into place", code) }
        try part.synchronize("the folder of \(what)")
    }

    /// Removes contents and their small pictures, if they are there; when it returns that is on disk.
    func removeContents(_ hashes: [String]) throws(CaptureError) {
        for (name, group) in Dictionary(grouping: hashes, by: { String($0.prefix(2)) }) {
            guard let part = try existing(name, in: contents, "the folder contents/\(name)") else { continue }
            for hash in group { try LibraryFolder.unlink(hash, in: part, "the content \(hash)") }
            try part.synchronize("the folder contents/\(name)")
        }
        for hash in hashes { try removeThumbnails(hash) }
    }

    /// A content for reading; `nil` when it is not there.
    ///
    /// - Throws: `inputOutput`, which `isLoss(_:)` for what lies in its place and is no file.
    func openContent(_ hash: String) throws(CaptureError) -> OwnedDescriptor? {
        guard let part = try existing(String(hash.prefix(2)), in: contents, "the folder of the content \(hash)") else {
            return nil
        }
        let what = "the content \(hash)"
        guard let file = try LibraryFolder.openIfThere(hash, in: part, what) else { return nil }
        guard try file.status(what).st_mode & S_IFMT == S_IFREG else {
            throw CaptureError(
                .inputOutput,
                "\(what) is not a regular file; to set it aside: capturectl library repair",
                errno: EISDIR
            )
        }
        return file
    }

    /// Whether an error says of a content that it is not to be had, and not of this moment alone.
    static func isLoss(_ error: CaptureError) -> Bool {
        error.code == .inputOutput && [EISDIR, ELOOP, ENXIO, EIO, EBADMSG].contains(error.errno)
    }

    /// Bytes of a content's file; `nil` when it is not there.
    func sizeOfContent(_ hash: String) throws(CaptureError) -> Int64? {
        guard let file = try openContent(hash) else { return nil }
        return Int64(try file.status("the content \(hash)").st_size)
    }

    /// A folder below another; `nil` when it is not there.
    func existing(
        _ name: String,
        in parent: OwnedDescriptor,
        _ what: @autoclosure () -> String
    ) throws(CaptureError) -> OwnedDescriptor? {
        try LibraryFolder.openIfThere(name, in: parent, what(), flags: O_DIRECTORY)
    }

    /// Opens a file for reading; `nil` when it is not there. One that is not a regular file or folder does not block.
    static func openIfThere(
        _ name: String,
        in folder: OwnedDescriptor,
        _ what: @autoclosure () -> String,
        flags: Int32 = 0
    ) throws(CaptureError) -> OwnedDescriptor? {
        do throws(CaptureError) {
            return try .open(name, in: folder.number, O_RDONLY | O_NONBLOCK | flags, what())
        } catch {
            if error.errno == ENOENT { return nil }
            throw error
        }
    }

    /// Removes a name.
    ///
    /// - Returns: Whether it was there.
    @discardableResult
    static func unlink(
        _ name: String,
        in folder: OwnedDescriptor,
        _ what: @autoclosure () -> String
    ) throws(CaptureError) -> Bool {
        if unsafe unlinkat(folder.number, name, 0) == 0 { return true }
        if errno == ENOENT { return false }
        throw LibraryCall.error("\(what()) cannot be removed", errno)
    }

    /// The names in a folder, without `.` and `..`, in the order of their bytes.
    static func names(in folder: OwnedDescriptor, _ what: @autoclosure () -> String) throws(CaptureError) -> [String] {
        // A descriptor of its own, since the position in it goes along and closing the list closes it.
        let copy = try OwnedDescriptor.open(".", in: folder.number, O_RDONLY | O_DIRECTORY, what()).duplicate()
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
