import Glibc

/// Names in folders.
public enum FolderListing {
    /// The names in a folder that end in a suffix, sorted by their bytes; none when the folder cannot be read.
    ///
    /// - Parameter limit: The most names, so that a folder that somebody filled cannot hold up the daemon.
    public static func names(in folder: String, suffix: String, limit: Int = 4096) -> [String] {
        guard let handle = unsafe opendir(folder) else { return [] }
        defer { unsafe closedir(handle) }
        var names: [String] = []
        while names.count < limit, let entry = unsafe readdir(handle) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
                unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name.hasSuffix(suffix), !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
}
