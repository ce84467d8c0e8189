import CaptureCore
import GRDB
import Synchronization

/// A change of the index, and the contents that no asset has any more because of it.
struct Released<Value: Sendable>: Sendable {
    var value: Value
    var hashes: [String]

    /// Removes the files of those contents.
    func swept(_ library: MediaLibrary) -> Value {
        library.sweep(hashes)
        return value
    }
}

extension Database {
    /// Takes those contents out of the index that no asset has any more; `sweep` removes their files once that is on disk.
    ///
    /// - Returns: Which those are.
    func release(_ hashes: some Sequence<String>) throws -> [String] {
        try Set(hashes).sorted().filter { hash in
            try cachedStatement(
                sql: """
                    DELETE FROM content WHERE hash = ?1 AND NOT EXISTS(SELECT 1 FROM asset WHERE original = ?1)
                        AND NOT EXISTS(SELECT 1 FROM asset WHERE edit = ?1)
                    """
            ).execute(arguments: [hash])
            guard changesCount > 0 else { return false }
            try doubt(hash)
            return true
        }
    }
}

extension MediaLibrary {
    /// Removes the files of contents that were released. What cannot be removed now remains doubtful, and goes when the
    /// library is opened next: what the caller asked for is done already.
    func sweep(_ hashes: [String]) {
        guard !hashes.isEmpty else { return }
        turn.withLock { _ in
            do throws(CaptureError) {
                // An equal file may have come in between.
                try folder.removeContents(read { database in try hashes.filter { try !database.hasContent($0) } })
                try tidy { database in
                    for hash in hashes { try database.believe(hash) }
                }
            } catch {
                return
            }
        }
    }
}
