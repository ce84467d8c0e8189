import CaptureCore
import Glibc

/// The files of contents: `contents/ab/HASH`, where `ab` are the first digits of the hash. Thread-safe.
struct ContentFiles: Sendable {
    private let folder: OwnedDescriptor
    private let root: OwnedDescriptor
    private let thumbnails: ThumbnailFiles
    private let path: String

    /// - Parameters:
    ///   - root: The library's folder.
    ///   - thumbnails: Small pictures, which go with their content.
    ///   - path: Where the library is.
    init(_ folder: OwnedDescriptor, _ root: OwnedDescriptor, _ thumbnails: ThumbnailFiles, _ path: String) {
        self.folder = folder
        self.root = root
        self.thumbnails = thumbnails
        self.path = path
    }

    /// Gives a finished file in `transit` a second name among the contents; when it returns that is on disk. A file that
    /// is there already is replaced, and there is no moment without one.
    func put(_ name: String, from transit: TransitFiles, as hash: String) throws(CaptureError) {
        let what = "the content \(hash)"
        let part = try folder.subfolder(String(hash.prefix(2)), path + "/contents", isLasting: true)
        try transit.link(name, into: part, as: hash, what)
        try part.synchronize("the folder of \(what)")
    }

    /// Removes contents and their small pictures, if they are there; when it returns that is on disk.
    func remove(_ hashes: [String]) throws(CaptureError) {
        for (name, group) in Dictionary(grouping: hashes, by: { String($0.prefix(2)) }) {
            guard let part = try folder.folder(name, "the folder contents/\(name)") else { continue }
            for hash in group { try part.unlink(hash, "the content \(hash)") }
            try part.synchronize("the folder contents/\(name)")
        }
        for hash in hashes { try thumbnails.remove(hash) }
    }

    /// A content for reading; `nil` when it is not there.
    ///
    /// - Throws: `inputOutput`, which `isLoss(_:)` for what lies in its place and is no file.
    func open(_ hash: String) throws(CaptureError) -> OwnedDescriptor? {
        guard let part = try folder.folder(String(hash.prefix(2)), "the folder of the content \(hash)") else {
            return nil
        }
        let what = "the content \(hash)"
        guard let file = try part.file(hash, what) else { return nil }
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
    func size(of hash: String) throws(CaptureError) -> Int64? {
        guard let file = try open(hash) else { return nil }
        return Int64(try file.status("the content \(hash)").st_size)
    }

    /// The names of the folders of contents, and of what else is beside them.
    func parts() throws(CaptureError) -> [String] { try folder.names("the folder of contents") }

    /// The folder of the contents with these first digits; `nil` if it is gone or is no folder.
    ///
    /// - Throws: If it cannot be opened for another reason. For example, a full table of descriptors does not make its
    ///   contents orphans.
    func part(_ name: String) throws(CaptureError) -> OwnedDescriptor? {
        do throws(CaptureError) {
            return try folder.folder(name, "the folder contents/\(name)")
        } catch  where error.errno == ENOTDIR || error.errno == ELOOP {
            return nil
        }
    }

    /// Moves something to `lost+found`, where nothing is looked for again; when it returns that is on disk.
    ///
    /// - Parameters:
    ///   - file: A path that begins with `contents/`, of two or three parts.
    ///   - suffix: What is put behind its name.
    /// - Returns: Where it is now, as a path in the library's folder; `nil` when it was not there any more.
    func setAside(_ file: String, suffix: String = "") throws(CaptureError) -> String? {
        let parts = file.split(separator: "/").dropFirst().map(String.init)
        guard let name = parts.last else { return nil }
        let source: OwnedDescriptor
        if parts.count > 1 {
            guard let part = try folder.folder(parts[0], "the folder contents/\(parts[0])") else { return nil }
            source = part
        } else {
            source = folder
        }
        return try root.setAside(name, of: source, path, suffix: suffix)
    }
}
