import Glibc

/// Metadata files, read only when nobody but root and the daemon's own user can have written them.
struct TrustedFiles: Sendable {
    /// The most bytes of a file: translated desktop entries are long.
    static let limit = 512 * 1024

    /// The uids that are trusted.
    var owners: Set<UInt32> = [0, geteuid()]

    /// Reads and parses a file.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - dialect: How it is written.
    ///   - refused: Gains a sentence when the file is there and is not used.
    ///   - mention: A text that the file has to contain to be worth parsing.
    /// - Returns: `nil` when it is absent, not used, or without the mention.
    func read(
        _ path: String,
        _ dialect: KeyFile.Dialect,
        _ refused: inout [String],
        mentioning mention: String? = nil
    ) -> KeyFile? {
        switch SmallFile.read(path, limit: TrustedFiles.limit, ownedBy: owners) {
        case .absent: return nil
        case .unusable(let why):
            // While a folder is searched, somebody else's files are not worth a word.
            if mention == nil { refused.append("\(path) \(why)") }
            return nil
        case .text(let text):
            if let mention, !text.contains(mention) { return nil }
            return KeyFile(parsing: text, path: path, dialect: dialect)
        }
    }
}

/// Where the desktop entry of an id may lie.
enum DesktopEntryPaths {
    /// Paths below an application folder: an id `a-b-c` names `a-b-c.desktop`, `a/b-c.desktop` or `a/b/c.desktop`, by
    /// the Desktop Entry Specification.
    static func candidates(for id: String) -> [String] {
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
    static func runs(_ command: String, _ path: String) -> Bool {
        guard let first = command.split(separator: " ").first else { return false }
        let program = first.hasPrefix("\"") ? String(first.dropFirst().prefix { $0 != "\"" }) : String(first)
        if program.contains("/") { return program == path }
        return ["/usr/local/bin/", "/usr/bin/", "/bin/"].contains { $0 + program == path }
    }
}

/// The files of a system unit.
struct UnitFiles {
    /// Unit folders by falling precedence.
    var folders: [String]
    /// What is believed.
    var trusted: TrustedFiles

    /// A unit's own file with its drop-ins applied.
    ///
    /// An instance `foo@bar.service` has its own file or that of `foo@.service`, and the drop-ins of both, its own last.
    /// A drop-in hides those of the same name in folders that come later.
    ///
    /// - Returns: `nil` when there is nothing of that name that may be believed.
    func read(_ unit: String, _ refused: inout [String]) -> KeyFile? {
        guard !unit.contains("/"), !unit.hasPrefix(".") else { return nil }
        var merged: KeyFile?
        search: for name in names(of: unit) {
            for folder in folders {
                merged = trusted.read(folder + "/" + name, .systemd, &refused)
                if merged != nil { break search }
            }
        }
        for name in names(of: unit).reversed() {
            var dropIns: [String: String] = [:]
            for folder in folders.reversed().map({ "\($0)/\(name).d" }) {
                for file in FolderListing.names(in: folder, suffix: ".conf") { dropIns[file] = folder + "/" + file }
            }
            for (_, path) in dropIns.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
                guard let file = trusted.read(path, .systemd, &refused) else { continue }
                if merged == nil { merged = file } else { merged?.append(file, .systemd) }
            }
        }
        return merged
    }

    private func names(of unit: String) -> [String] {
        guard let at = unit.firstIndex(of: "@"), let dot = unit.lastIndex(of: "."), at < dot else { return [unit] }
        let template = unit[...at] + unit[dot...]
        return template == unit ? [unit] : [unit, String(template)]
    }
}
