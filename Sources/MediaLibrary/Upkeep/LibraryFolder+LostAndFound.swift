import CaptureCore
import Glibc

/// What repairing sets aside: `lost+found`, where nothing is looked for again.
extension LibraryFolder {
    /// Whether there is something of a name in a folder.
    static func isThere(_ name: String, in folder: OwnedDescriptor) throws(CaptureError) -> Bool {
        var status = stat()
        if unsafe fstatat(folder.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 { return true }
        if errno == ENOENT { return false }
        throw LibraryCall.error("the file \(name) cannot be examined", errno)
    }

    /// Moves something out of the contents; when it returns that is on disk.
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
            guard let part = try existing(parts[0], in: contents, "the folder contents/\(parts[0])") else { return nil }
            source = part
        } else {
            source = contents
        }
        guard try LibraryFolder.isThere(name, in: source) else { return nil }
        let target = try LibraryFolder.subfolder("lost+found", of: root, path, isLasting: true)
        var free = name + suffix
        var number = 1
        while try LibraryFolder.isThere(free, in: target) {
            number += 1
            free = "\(name)\(suffix)-\(number)"
        }
        try LibraryCall.check("the file \(file) cannot be set aside") {
            unsafe renameat(source.number, name, target.number, free)
        }
        try target.synchronize("the folder lost+found")
        try source.synchronize("the folder of \(file)")
        return "lost+found/\(free)"
    }
}
