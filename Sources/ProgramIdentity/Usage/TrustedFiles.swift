import Glibc

/// Metadata files, read only when nobody but root and the daemon's own user can have written them.
package struct TrustedFiles: Sendable {
    /// The most bytes of a file: translated desktop entries are long.
    package static let limit = 512 * 1024

    /// The uids that are trusted.
    private let owners: Set<UInt32> = [0, geteuid()]

    /// What was read before.
    private let cache = MetadataCache()

    /// Reads and parses a file, or knows it from before when it has not changed since.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - dialect: How it is written.
    ///   - refused: Gains a sentence when the file is there and is not used.
    ///   - isSearching: Whether it is one of many, of which only those count that mention a key of ours.
    /// - Returns: `nil` when it is absent, not used, or without the mention.
    package func read(
        _ path: String,
        _ dialect: KeyFile.Dialect,
        _ refused: inout [String],
        isSearching: Bool = false
    ) -> KeyFile? {
        let stamp = FileStamp(of: path)
        switch stamp.flatMap({ cache.content(of: path, $0) }) {
        case .parsed(let file): return isSearching && !file.mentionsCapture ? nil : file
        case .unmentioned where isSearching: return nil
        case .unmentioned, nil: break
        }
        switch SmallFile.read(path, limit: TrustedFiles.limit, ownedBy: owners) {
        case .absent: return nil
        case .unusable(let why):
            // While a folder is searched, somebody else's files are not worth a word.
            if !isSearching { refused.append("\(path) \(why)") }
            return nil
        case .text(let text):
            if isSearching, !text.contains(KeyFile.captureMark) {
                cache.keep(.unmentioned, of: path, stamp)
                return nil
            }
            let file = KeyFile(parsing: text, path: path, dialect: dialect)
            cache.keep(.parsed(file), of: path, stamp)
            return isSearching && !file.mentionsCapture ? nil : file
        }
    }
}

extension KeyFile {
    /// What the names of all our keys begin with.
    package static let captureMark = "X-Capture"

    /// Whether it has a key or a section of ours.
    package var mentionsCapture: Bool {
        entries.contains { $0.key.hasPrefix(KeyFile.captureMark) || $0.section.hasPrefix(KeyFile.captureMark) }
    }
}

/// Where the desktop entry of an id may lie.
package enum DesktopEntryPaths {
    /// Paths below an application folder: an id `a-b-c` names `a-b-c.desktop`, `a/b-c.desktop` or `a/b/c.desktop`, by
    /// the Desktop Entry Specification.
    package static func candidates(for id: String) -> [String] {
        var paths = [id + ".desktop"]
        var path = id
        for _ in 0..<4 {
            guard let dash = path.firstIndex(of: "-"), dash != path.startIndex else { break }
            path.replaceSubrange(dash...dash, with: "/")
            let parts = path.split(separator: "/", omittingEmptySubsequences: false)
            guard !parts.contains(where: { $0.isEmpty || $0 == "." || $0 == ".." }) else { break }
            paths.append(path + ".desktop")
        }
        return paths
    }
}

extension DesktopEntryPaths {
    /// Whether an `Exec=` line starts a file: by its path, or by its name in a folder of the system's programs.
    package static func runs(_ command: String, _ path: String) -> Bool {
        guard let first = command.split(separator: " ").first else { return false }
        let program = first.hasPrefix("\"") ? String(first.dropFirst().prefix { $0 != "\"" }) : String(first)
        if program.contains("/") { return program == path }
        return ["/usr/local/bin/", "/usr/bin/", "/bin/"].contains { $0 + program == path }
    }
}
