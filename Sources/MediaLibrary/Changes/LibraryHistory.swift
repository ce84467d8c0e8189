public import CaptureCore
import GRDB

/// What happened in the library, as each reader may know it. Thread-safe; calls wait for the disk.
public struct LibraryHistory: Sendable {
    /// How many assets and albums one difference tells of at most.
    public static let mostAtOnce = 1000
    private let base: LibraryBase

    init(_ base: LibraryBase) { self.base = base }

    /// A token for now: opaque, sealed, always of the same length, and good across restarts.
    ///
    /// - Throws: `inputOutput` for an index that cannot be used.
    public func token(scope: LibraryScope) throws(CaptureError) -> LibraryChangeToken {
        try base.index.read { database in
            let log = try ReaderLog(scope.reader, database)
            return LibraryChangeToken(
                rawValue: try ChangeToken(log.last, scope.reader, database).sealed(scope, Sealing(database))
            )
        }
    }

    /// What is different for a reader between a token's moment and now.
    ///
    /// In pieces, where it is much; all pieces together are the difference to the moment when the first was asked for,
    /// told with the assets as they are now.
    ///
    /// - Parameters:
    ///   - token: From `token(scope:)` or from earlier changes.
    ///   - scope: What the reader sees; has to be what it was.
    ///   - limit: How many assets and albums are told of at once: 1 to 1,000.
    /// - Throws: `invalidArgument` for another limit; `staleToken` when the token is of another library, reader or scope,
    ///   or too old.
    public func changes(
        since token: LibraryChangeToken,
        scope: LibraryScope,
        limit: Int = 500
    ) throws(CaptureError) -> LibraryChanges {
        guard (1...LibraryHistory.mostAtOnce).contains(limit) else {
            throw CaptureError(
                .invalidArgument,
                "\(limit) changes at once are not possible; ask for 1 to \(LibraryHistory.mostAtOnce)"
            )
        }
        return try base.index.read { database in
            let sealing = try Sealing(database)
            let log = try ReaderLog(scope.reader, database)
            var token = try ChangeToken(token.rawValue, scope, log, sealing, database)
            // One that was told everything is told what came after; base and end are the same in it.
            if token.told == token.end { token.end = log.last }
            guard let reader = scope.reader else {
                return LibraryChanges(token: .init(rawValue: try token.sealed(scope, sealing)), isComplete: true)
            }
            let objects = try ChangedObject.found(reader, token, limit + 1, database)
            let isComplete = objects.count <= limit
            var next = token
            if isComplete {
                next = try ChangeToken(token.end, reader, database)
            } else {
                next.told = objects[limit - 1].number
            }
            var changes = LibraryChanges(
                token: .init(rawValue: try next.sealed(scope, sealing)),
                isComplete: isComplete
            )
            for object in objects.prefix(limit) { try changes.add(object, reader, token, database) }
            return changes
        }
    }

    /// Forgets what happened before a moment. Tokens from before it are stale then, unless nothing happened since.
    ///
    /// - Parameter moment: In milliseconds since 1970, by the machine's own clock; `nil` for 90 days ago.
    /// - Throws: `inputOutput` for an index that cannot be used.
    public func forget(before moment: Int64? = nil) throws(CaptureError) {
        let moment = moment ?? base.now() - ChangeLog.usualAge
        try base.index.write { database in
            for reader in try String.fetchAll(database, sql: "SELECT reader FROM reader") {
                // The first that is kept is looked for from the oldest on: as long as what goes, not as what stays.
                try database.execute(
                    sql: """
                        UPDATE reader SET forgotten = coalesce(
                            (SELECT number - 1 FROM change WHERE reader = ?1 AND at >= ?2 ORDER BY number LIMIT 1),
                            last
                        ) WHERE reader = ?1;
                        """,
                    arguments: [reader, moment]
                )
                try database.execute(
                    sql: "DELETE FROM change WHERE reader = ?1 AND number <= "
                        + "(SELECT forgotten FROM reader WHERE reader = ?1)",
                    arguments: [reader]
                )
            }
        }
    }

    /// Now, for `concern(since:)`.
    ///
    /// - Throws: `inputOutput` for an index that cannot be used.
    public func moment() throws(CaptureError) -> LibraryMoment {
        try base.index.read(LibraryMoment.init)
    }

    /// For whom something has changed since a moment, which then becomes now.
    ///
    /// - Throws: `inputOutput` for an index that cannot be used.
    public func concern(since moment: inout LibraryMoment) throws(CaptureError) -> LibraryConcern {
        let now = try base.index.read(LibraryMoment.init)
        let changed = now.last.filter { moment.last[$0.key] != $0.value }.keys
        moment = now
        return LibraryConcern(all: changed.contains(""), programs: Set(changed).subtracting([""]))
    }
}
