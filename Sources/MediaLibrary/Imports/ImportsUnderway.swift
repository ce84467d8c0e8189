import CaptureCore

/// What is being imported and not in the index yet, so that many imports at a time keep to the limits as one does.
struct ImportsUnderway {
    private struct Entry {
        /// Whom it is counted for.
        var programs: Set<String>
        var usage: LibraryUsage
    }

    private var entries: [String: Entry] = [:]

    /// What is on its way for a program; for all, each once, when it is `nil`.
    func sum(of program: String?) -> LibraryUsage {
        entries.values.reduce(into: LibraryUsage()) { sum, entry in
            if let program, !entry.programs.contains(program) { return }
            sum.assets += entry.usage.assets
            sum.bytes += entry.usage.bytes
        }
    }

    /// Begins one; an edit is none of the assets that are counted.
    mutating func begin(_ id: String, of programs: Set<String>, isAsset: Bool) {
        entries[id] = Entry(programs: programs, usage: LibraryUsage(assets: isAsset ? 1 : 0))
    }

    /// It has grown.
    mutating func add(_ bytes: Int64, to id: String) { entries[id]?.usage.bytes += bytes }

    /// It is in the index, or was given up.
    mutating func end(_ id: String) { entries[id] = nil }
}
