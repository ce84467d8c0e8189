import CaptureCore
import GRDB
import Glibc
import Synchronization

/// A finished file in transit, which nobody can write any more.
struct StagedContent: Sendable {
    /// Its name there.
    var name: String
    /// It, for reading.
    var file: OwnedDescriptor
    /// Its hash.
    var hash: String
}

extension MediaLibrary {
    /// Puts a finished file among the contents and changes the index with it: both or neither, a crash at any moment
    /// included. Its name in transit remains, which the caller removes.
    ///
    /// Equal files are one content: a new one takes the place of the one that is there, which it mends where that was
    /// damaged. Its hash is written down as doubtful first, so that a file which came without its row is found when the
    /// library is opened. All this is done for a content that is there already, too: else the time that it takes would
    /// tell who may only add whether the user has a file.
    ///
    /// - Parameters:
    ///   - size: Bytes of the file.
    ///   - change: What to change once the content is in the index; in the same transaction.
    func settle<T: Sendable>(
        _ staged: StagedContent,
        _ size: Int64,
        _ facts: MediaFacts,
        _ change: (Database) throws -> T
    ) throws(CaptureError) -> T {
        try turn.withLock { _ throws(CaptureError) in
            try write { try $0.doubt(staged.hash) }
            try folder.linkIn(staged.name, as: staged.hash)
            var isBegun = false
            do throws(CaptureError) {
                return try write { database in
                    isBegun = true
                    if try !database.hasContent(staged.hash) {
                        try database.insertContent(staged.hash, size, facts)
                    }
                    let result = try change(database)
                    try database.believe(staged.hash)
                    return result
                }
            } catch {
                // Where it is not certain that the row stayed away, the doubt remains until the library is opened next.
                if !isBegun || error.code != .inputOutput || error.errno == ENOSPC { try withdraw(staged.hash) }
                throw error
            }
        }
    }

    /// Takes back a content that did not get its row; one that had it before stays.
    private func withdraw(_ hash: String) throws(CaptureError) {
        if try !read({ try $0.hasContent(hash) }) { try folder.removeContents([hash]) }
        do throws(CaptureError) {
            try tidy { try $0.believe(hash) }
        } catch {
            // On a full disk the doubt stays, and does no harm.
            if error.errno != ENOSPC { throw error }
        }
    }
}

extension Database {
    /// Whether there is a row of a content.
    func hasContent(_ hash: String) throws -> Bool {
        try Bool.fetchOne(
            cachedStatement(sql: "SELECT EXISTS(SELECT 1 FROM content WHERE hash = ?)"),
            arguments: [hash]
        ) ?? false
    }

    /// Adds the row of a content.
    func insertContent(_ hash: String, _ size: Int64, _ facts: MediaFacts) throws {
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
        try Bool.fetchOne(
            cachedStatement(sql: "SELECT EXISTS(SELECT 1 FROM doubtful WHERE hash = ?)"),
            arguments: [hash]
        ) ?? false
    }

    /// File and row of this content agree.
    func believe(_ hash: String) throws {
        try cachedStatement(sql: "DELETE FROM doubtful WHERE hash = ?").execute(arguments: [hash])
    }
}
