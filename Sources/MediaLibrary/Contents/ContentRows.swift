import CaptureCore
import GRDB

/// A finished file in transit, which nobody can write any more.
struct StagedContent: Sendable {
    /// Its name there.
    var name: String
    /// Its hash.
    var hash: String
}

/// A change of the index, and the contents that no asset has any more because of it.
struct Released<Value: Sendable>: Sendable {
    var value: Value
    var hashes: [String]

    /// Removes the files of those contents.
    func swept(_ contents: LibraryContents) -> Value {
        contents.sweep(hashes)
        return value
    }
}

extension Database {
    /// Whether there is a row of a content.
    func hasContent(_ hash: String) throws -> Bool {
        try has(hash, in: "content")
    }

    /// Adds the row of a content.
    func insertContent(_ hash: String, _ size: Int64, _ facts: ExaminedMedia) throws {
        try cachedStatement(
            sql: """
                INSERT INTO content(hash, size, kind, mediaType, codec, width, height, duration, made)
                VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(
            arguments: [
                hash, size, facts.kind.rawValue, facts.mediaType, facts.codec, facts.width, facts.height,
                facts.duration, facts.created,
            ]
        )
    }

    /// File and row of this content come or go one after the other.
    func doubt(_ hash: String) throws {
        try cachedStatement(sql: "INSERT OR IGNORE INTO doubtful(hash) VALUES(?)").execute(arguments: [hash])
    }

    /// Whether file and row of this content may not agree.
    func isDoubtful(_ hash: String) throws -> Bool {
        try has(hash, in: "doubtful")
    }

    private func has(_ hash: String, in table: String) throws -> Bool {
        let statement = try cachedStatement(sql: "SELECT EXISTS(SELECT 1 FROM \(table) WHERE hash = ?)")
        return try Bool.fetchOne(statement, arguments: [hash]) ?? false
    }

    /// File and row of this content agree.
    func believe(_ hash: String) throws {
        try cachedStatement(sql: "DELETE FROM doubtful WHERE hash = ?").execute(arguments: [hash])
    }

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
