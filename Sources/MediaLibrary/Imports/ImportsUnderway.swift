/// What is being imported and not in the index yet, so that many imports at a time keep to the limits as one does.
struct ImportsUnderway {
    private struct Entry {
        var program: String
        var usage: LibraryUsage
    }

    private var entries: [String: Entry] = [:]

    /// What is on its way for a program; for all when it is `nil`.
    func sum(of program: String?) -> LibraryUsage {
        entries.values.reduce(into: LibraryUsage()) { sum, entry in
            guard program == nil || entry.program == program else { return }
            sum.assets += entry.usage.assets
            sum.bytes += entry.usage.bytes
        }
    }

    /// Begins one; an edit is none of the assets that are counted.
    mutating func begin(_ id: String, of program: String, isAsset: Bool) {
        entries[id] = Entry(program: program, usage: LibraryUsage(assets: isAsset ? 1 : 0))
    }

    /// It has grown.
    mutating func add(_ bytes: Int64, to id: String) { entries[id]?.usage.bytes += bytes }

    /// It is in the index, or was given up.
    mutating func end(_ id: String) { entries[id] = nil }
}
