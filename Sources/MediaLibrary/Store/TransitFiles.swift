import CaptureCore
import Glibc

/// The files of imports and recordings under way, and the room for more: `transit/ID`. Thread-safe.
struct TransitFiles: Sendable {
    private let folder: OwnedDescriptor
    private let root: OwnedDescriptor
    private let path: String

    /// - Parameter path: Where the library is.
    init(_ folder: OwnedDescriptor, _ root: OwnedDescriptor, _ path: String) {
        (self.folder, self.root) = (folder, root)
        self.path = path
    }

    /// Makes a file.
    ///
    /// - Parameter access: `O_WRONLY` or `O_RDWR`.
    func make(_ name: String, _ access: Int32, _ what: String) throws(CaptureError) -> OwnedDescriptor {
        try .open(name, in: folder.number, access | O_CREAT | O_EXCL, what)
    }

    /// A file that is there, for reading.
    func open(_ name: String, _ what: String) throws(CaptureError) -> OwnedDescriptor {
        try .open(name, in: folder.number, O_RDONLY, what)
    }

    /// A file for reading; `nil` when it is not there.
    func file(_ name: String, _ what: String) throws(CaptureError) -> OwnedDescriptor? {
        try folder.file(name, what)
    }

    /// The names of all files.
    func names(_ what: String) throws(CaptureError) -> [String] { try folder.names(what) }

    /// When it returns, the names of files are on disk.
    func synchronize(_ what: String) throws(CaptureError) { try folder.synchronize(what) }

    /// Removes a file, if it is there.
    func remove(_ name: String, _ what: String) throws(CaptureError) { try folder.unlink(name, what) }

    /// Moves a file to `lost+found`.
    func setAside(_ name: String) throws(CaptureError) { _ = try root.setAside(name, of: folder, path) }

    /// Removes a file whose content is elsewhere or not wanted. One that cannot be removed now goes when the library is
    /// opened next.
    func drop(_ name: String) { _ = unsafe unlinkat(folder.number, name, 0) }

    /// Gives a finished file a second name in another folder, in the place of what is there. There is no moment without
    /// one; the caller has the name written to the disk.
    ///
    /// A second name and not another one: what fails after this, or is cut off, leaves the file where it was.
    func link(
        _ name: String,
        into other: OwnedDescriptor,
        as new: String,
        _ what: @autoclosure () -> String
    ) throws(CaptureError) {
        // One that is left behind there goes when the library is opened next.
        let second = LibraryID.make()
        try LibraryCall.check("\(what()) cannot be put into place") {
            unsafe linkat(folder.number, name, folder.number, second, 0)
        }
        let result = unsafe renameat(folder.number, second, other.number, new)
        let code = errno
        // It is still there when that failed, and when both were names of the same file already.
        try folder.unlink(second, what())
        guard result == 0 else { throw LibraryCall.error("\(what()) cannot be put into place", code) }
    }

    /// Refuses what would leave less free on the disk than is kept for others.
    ///
    /// - Parameters:
    ///   - reserve: Bytes that stay free, as the limits say.
    ///   - bytes: How many are about to be written.
    /// - Throws: `inputOutput` with ENOSPC.
    func checkReserve(_ reserve: Int64?, beside bytes: Int64) throws(CaptureError) {
        let room = try room(beside: reserve)
        guard room.reserve > 0, bytes > room.free - room.reserve else { return }
        let reserve = room.reserve
        throw CaptureError(
            .inputOutput,
            "the disk with the media library has less than \(reserve) bytes left, which are kept free for other data; "
                + "make room there",
            errno: ENOSPC
        )
    }

    /// Bytes that are free on the disk, and how many of them stay so.
    ///
    /// - Throws: `inputOutput`.
    func room(beside reserve: Int64?) throws(CaptureError) -> (free: Int64, reserve: Int64) {
        var status = statvfs()
        try LibraryCall.check("the disk with the media library \(path) cannot be examined") {
            unsafe fstatvfs(folder.number, &status)
        }
        func bytes(_ blocks: fsblkcnt_t) -> Int64 {
            let (bytes, isEndless) = Int64(clamping: blocks)
                .multipliedReportingOverflow(by: Int64(clamping: status.f_frsize))
            return isEndless ? .max : bytes
        }
        return (bytes(status.f_bavail), reserve ?? min(256 << 20, bytes(status.f_blocks) / 16))
    }
}
