import CaptureCore
import Glibc

/// A library's folder and what is directly in it, open as descriptors: no path is followed after opening.
///
/// Thread-safe. While it is open nobody else can open the same one, in whatever process.
final class LibraryFolder: Sendable {
    /// Where it is.
    let path: String
    /// Contents by hash.
    let contents: ContentFiles
    /// Imports and recordings under way.
    let transit: TransitFiles
    /// Small pictures of contents, which can be made again.
    let thumbnails: ThumbnailFiles
    private let root: OwnedDescriptor

    static let indexName = "index.sqlite"

    /// Opens or makes it.
    ///
    /// - Throws: `inputOutput` for a folder that cannot be used, or is not only ours; `busy` when it is open already.
    init(_ path: String) throws(CaptureError) {
        self.path = path
        try LibraryFolder.make(path)
        let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw LibraryCall.error("the media library \(path) cannot be opened", errno)
        }
        root = OwnedDescriptor(owning: descriptor)
        let status = try root.status("the media library \(path)")
        guard status.st_uid == geteuid() else {
            throw CaptureError(
                .inputOutput,
                "the media library \(path) belongs to uid \(status.st_uid) instead of \(geteuid()); fix it with: "
                    + "chown -R \(geteuid()) '\(path)'"
            )
        }
        guard status.st_mode & 0o077 == 0 else {
            throw CaptureError(
                .inputOutput,
                "the media library \(path) can be reached by others; fix it with: chmod 0700 '\(path)'"
            )
        }
        try LibraryFolder.lock(root, path)
        let stored = try root.subfolder("contents", path)
        transit = TransitFiles(try root.subfolder("transit", path), root, path)
        thumbnails = ThumbnailFiles(try root.subfolder("thumbnails", path), path)
        contents = ContentFiles(stored, root, thumbnails, path)
        try makeIndex()
        try root.synchronize("the media library \(path)")
    }

    /// Makes the library's folder and the one of all libraries, if need be; when it returns their names are on disk.
    private static func make(_ path: String) throws(CaptureError) {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
            throw CaptureError(.invalidArgument, "'\(path)' cannot be a media library; give an absolute path")
        }
        let parent = String(path[..<slash])
        if unsafe mkdir(parent, 0o700) == 0 {
            try synchronize(parent + "/..")
        } else if errno != EEXIST {
            throw LibraryCall.error("the folder \(parent) of media libraries cannot be made", errno)
        }
        if unsafe mkdir(path, 0o700) != 0, errno != EEXIST {
            throw LibraryCall.error("the media library \(path) cannot be made", errno)
        }
        try synchronize(parent)
    }

    private static func synchronize(_ path: String) throws(CaptureError) {
        let number = try LibraryCall.check("the folder \(path) cannot be opened") {
            unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        }
        try OwnedDescriptor(owning: number).synchronize("the folder \(path)")
    }

    /// Two that tidy up after each other would throw away what is under way. A process that was just started from this
    /// one holds the lock until it has become another program, hence the short wait.
    private static func lock(_ root: OwnedDescriptor, _ path: String) throws(CaptureError) {
        for _ in 0..<100 {
            if flock(root.number, LOCK_EX | LOCK_NB) == 0 { return }
            guard errno == EWOULDBLOCK || errno == EINTR else {
                throw LibraryCall.error("the media library \(path) cannot be locked", errno)
            }
            usleep(20_000)
        }
        throw CaptureError(.busy, "the media library \(path) is open in another process; end that one first")
    }

    /// SQLite gives its other files the mode of this one.
    private func makeIndex() throws(CaptureError) {
        let what = "the index \(path)/\(LibraryFolder.indexName)"
        let index = try OwnedDescriptor.open(LibraryFolder.indexName, in: root.number, O_RDWR | O_CREAT, what)
        let status = try index.status(what)
        guard status.st_mode & S_IFMT == S_IFREG, status.st_nlink == 1, status.st_uid == geteuid() else {
            throw CaptureError(.inputOutput, "\(what) is not a regular file of ours with one name; restore a copy")
        }
        guard status.st_mode & 0o077 == 0 else {
            throw CaptureError(
                .inputOutput,
                "\(what) can be reached by others; fix it with: chmod 0600 '\(path)/index.sqlite'"
            )
        }
    }
}
