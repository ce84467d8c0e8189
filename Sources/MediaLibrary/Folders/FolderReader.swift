import CaptureCore
import Glibc

/// One file of a folder that is imported.
struct FolderFile: Sendable {
    /// Its path from the top.
    var path: String
    var name: String
    /// The folder that it is in.
    var folder: OwnedDescriptor
    /// What is said of it, if there is a sidecar.
    var sidecar: Sidecar?
}

/// Walks through a folder that is imported: links are not followed, and what is neither a file nor a folder is passed
/// over.
struct FolderReader {
    /// Bytes of a sidecar, at most.
    private static let sidecarLimit = 1 << 20
    /// How deep folders may lie.
    private static let depth = 16

    /// Calls for each file that is not a sidecar or the edit of another, in the order of names.
    func files(in folder: OwnedDescriptor, _ use: (FolderFile) throws(CaptureError) -> Void) throws(CaptureError) {
        try walk(folder, "", FolderReader.depth, use)
    }

    private func walk(
        _ folder: OwnedDescriptor,
        _ path: String,
        _ depth: Int,
        _ use: (FolderFile) throws(CaptureError) -> Void
    ) throws(CaptureError) {
        let what = "the folder \(path.isEmpty ? "of the import" : path)"
        guard depth > 0 else {
            throw CaptureError(.invalidArgument, "\(what) lies more than \(FolderReader.depth) folders deep")
        }
        let names = try LibraryFolder.names(in: folder, what)
        var sidecars: [String: Sidecar] = [:]
        var taken: Set<String> = []
        for name in names where name.hasSuffix(".json") {
            let file = String(name.dropLast(5))
            guard let bytes = try FolderReader.bytes(of: name, in: folder) else { continue }
            if let sidecar = FolderJSON.value(Sidecar.self, bytes), sidecar.format == Sidecar.format {
                sidecars[file] = sidecar
                taken.formUnion([name] + (sidecar.edit.map { [$0] } ?? []))
            } else if path.isEmpty, name == FolderReader.albums {
                taken.insert(name)
            }
        }
        for name in names where !taken.contains(name) {
            switch try kind(of: name, in: folder) {
            case S_IFDIR:
                let below = try OwnedDescriptor.open(name, in: folder.number, O_RDONLY | O_DIRECTORY, what)
                try walk(below, path + name + "/", depth - 1, use)
            case S_IFREG:
                try use(FolderFile(path: path + name, name: name, folder: folder, sidecar: sidecars[name]))
            default:
                continue
            }
        }
    }

    static let albums = "albums.json"

    private func kind(of name: String, in folder: OwnedDescriptor) throws(CaptureError) -> mode_t {
        var status = stat()
        try LibraryCall.check("the file \(name) cannot be examined") {
            unsafe fstatat(folder.number, name, &status, AT_SYMLINK_NOFOLLOW)
        }
        return status.st_mode & S_IFMT
    }

    /// Opens a regular file; another kind of file neither blocks nor is read.
    static func open(_ name: String, in folder: OwnedDescriptor) throws(CaptureError) -> OwnedDescriptor {
        let file = try OwnedDescriptor.open(name, in: folder.number, O_RDONLY | O_NONBLOCK, "the file \(name)")
        guard try file.status("the file \(name)").st_mode & S_IFMT == S_IFREG else {
            throw CaptureError(.badData, "\(name) is not a regular file")
        }
        return file
    }

    /// A small file; `nil` for a larger or another kind of file.
    static func bytes(of name: String, in folder: OwnedDescriptor) throws(CaptureError) -> [UInt8]? {
        let file: OwnedDescriptor
        do throws(CaptureError) {
            file = try open(name, in: folder)
        } catch {
            // A link or a folder of that name, or nothing at all.
            if error.code == .badData || error.errno == ELOOP || error.errno == ENOENT { return nil }
            throw error
        }
        guard try file.status("the file \(name)").st_size <= sidecarLimit else { return nil }
        var bytes: [UInt8] = []
        try unsafe file.pieces("the file \(name)") { bytes.append(contentsOf: unsafe Array($0)) }
        return bytes
    }
}
