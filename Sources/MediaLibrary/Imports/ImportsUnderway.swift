import CaptureCore
import Synchronization

/// What is being imported and not in the index yet, so that many imports at a time keep to the limits as one does.
/// Thread-safe.
final class ImportsUnderway: Sendable {
    private struct Entry {
        /// Whom it is counted for.
        var programs: Set<String>
        var usage: LibraryUsage
    }

    private let entries = Mutex<[String: Entry]>([:])

    /// What is on its way for a program, and for all, each once.
    func sums(of program: String) -> (ofProgram: LibraryUsage, ofAll: LibraryUsage) {
        entries.withLock { entries in
            entries.values.reduce(into: (LibraryUsage(), LibraryUsage())) { sums, entry in
                sums.1 += entry.usage
                if entry.programs.contains(program) { sums.0 += entry.usage }
            }
        }
    }

    /// Begins an import. Of an edit only the bytes count, since it adds no asset.
    func begin(_ id: String, of programs: Set<String>, isAsset: Bool) {
        entries.withLock { $0[id] = Entry(programs: programs, usage: LibraryUsage(assets: isAsset ? 1 : 0)) }
    }

    /// It has grown.
    func add(_ bytes: Int64, to id: String) { entries.withLock { $0[id]?.usage.bytes += bytes } }

    /// It is in the index, or was given up.
    func end(_ id: String) { entries.withLock { $0[id] = nil } }
}

extension LibraryUsage {
    fileprivate static func += (sum: inout LibraryUsage, more: LibraryUsage) {
        sum.assets += more.assets
        sum.bytes += more.bytes
    }
}
