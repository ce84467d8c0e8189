public import CaptureCore
import GRDB

/// The albums, as queries over the index. Thread-safe; calls wait for the disk.
public struct LibraryAlbums: Sendable {
    /// How many albums there may be before one that sees everything makes no more.
    static let mostAlbums = 1000
    /// How many albums of its own a program may have that does not see everything. It is told nothing of others', not even
    /// by a limit.
    static let mostAlbumsOfProgram = 100
    private let base: LibraryBase

    init(_ base: LibraryBase) { self.base = base }

    /// The albums that a reader sees, by name: those with an asset that it sees, and those that it made.
    ///
    /// - Throws: `inputOutput` for an index that cannot be used.
    public func all(scope: LibraryScope) throws(CaptureError) -> [MediaAlbum] {
        guard let reader = scope.reader else { return [] }
        return try base.index.read { database in
            try Row.fetchAll(
                database.cachedStatement(
                    sql: "\(MediaAlbum.selection) ORDER BY album.name COLLATE NOCASE, album.number"
                ),
                arguments: [reader]
            ).map(MediaAlbum.init)
        }
    }

    /// One album.
    ///
    /// - Throws: `invalidArgument` for a malformed id; `noSuchAlbum` for an album that the reader does not see.
    public func album(_ id: String, scope: LibraryScope) throws(CaptureError) -> MediaAlbum {
        try LibraryID.check(id, of: "an album")
        guard let reader = scope.reader else { throw Visibility.noSuchAlbum(id) }
        return try base.index.read { database in
            guard let album = try MediaAlbum.called(id, reader, database) else { throw Visibility.noSuchAlbum(id) }
            return album
        }
    }

    /// The album of a name, and of several the one that was made first; `nil` when the reader sees none.
    ///
    /// - Throws: `inputOutput` for an index that cannot be used.
    public func album(named name: String, scope: LibraryScope) throws(CaptureError) -> MediaAlbum? {
        guard let reader = scope.reader else { return nil }
        return try base.index.read { database in
            try Row.fetchOne(
                database.cachedStatement(
                    sql: "\(MediaAlbum.selection) AND album.name = ? ORDER BY album.number LIMIT 1"
                ),
                arguments: [reader, name]
            ).map(MediaAlbum.init)
        }
    }

    /// Makes an empty album. There may be another of its name.
    ///
    /// - Parameters:
    ///   - name: See `LibraryName`.
    ///   - program: Who makes it; it goes on to see it whatever is in it.
    ///   - scope: What the program sees.
    /// - Throws: `invalidArgument` for a name that is not allowed; `overQuota` when there are too many; `notPermitted` for
    ///   one that sees nothing.
    public func create(
        _ name: String,
        program: String,
        scope: LibraryScope
    ) throws(CaptureError) -> MediaAlbum {
        try LibraryName.check(name, of: "an album")
        guard let reader = scope.reader else {
            throw CaptureError(.notPermitted, "only a program that may read the library can make an album")
        }
        let id = LibraryID.make()
        let created = base.now()
        return try base.index.write { database in
            // Apart, since the albums of others may not even be counted for a program that does not see them.
            let found =
                try reader.isEmpty
                ? Int.fetchOne(database, sql: "SELECT count(*) FROM album")
                : Int.fetchOne(database, sql: "SELECT count(*) FROM album WHERE program = ?", arguments: [reader])
            let most = reader.isEmpty ? LibraryAlbums.mostAlbums : LibraryAlbums.mostAlbumsOfProgram
            guard let found, found < most else {
                throw CaptureError(
                    .overQuota,
                    reader.isEmpty
                        ? "the library has \(most) albums, and more are not possible; delete one first"
                        : "the program has made \(most) albums, and more are not possible; delete one first"
                )
            }
            try database.execute(
                sql: "INSERT INTO album(id, name, created, program) VALUES(?, ?, ?, ?)",
                arguments: [id, name, created, program]
            )
            var album = MediaAlbum()
            (album.id, album.name, album.created, album.modified) = (id, name, created, created)
            return album
        }
    }

    /// Renames an album.
    ///
    /// - Throws: `invalidArgument` for a name that is not allowed or what is no id; `noSuchAlbum`; `notPermitted` for a
    ///   program that does not see everything, if it did not make the album.
    public func rename(_ id: String, to name: String, scope: LibraryScope) throws(CaptureError) {
        try LibraryName.check(name, of: "an album")
        try change(id, scope, "renamed") { database, number in
            try database.execute(sql: "UPDATE album SET name = ? WHERE number = ?", arguments: [name, number])
        }
    }

    /// Deletes an album; its assets stay.
    ///
    /// - Throws: `invalidArgument` for what is no id; `noSuchAlbum`; `notPermitted` for a program that does not see
    ///   everything, if it did not make the album.
    public func delete(_ id: String, scope: LibraryScope) throws(CaptureError) {
        try change(id, scope, "deleted") { database, number in
            try database.execute(sql: "DELETE FROM album WHERE number = ?", arguments: [number])
        }
    }

    /// What concerns the whole album, of which a program may see but a part.
    private func change(
        _ id: String,
        _ scope: LibraryScope,
        _ what: String,
        _ change: (Database, Int64) throws -> Void
    ) throws(CaptureError) {
        try LibraryID.check(id, of: "an album")
        guard let reader = scope.reader else { throw Visibility.noSuchAlbum(id) }
        try base.index.write { database in
            guard let number = try Visibility.album(id, reader, database) else { throw Visibility.noSuchAlbum(id) }
            if !reader.isEmpty {
                let maker = try String.fetchOne(
                    database,
                    sql: "SELECT program FROM album WHERE number = ?",
                    arguments: [number]
                )
                guard maker == reader else {
                    throw CaptureError(
                        .notPermitted,
                        "the album \(id) can be \(what) by its maker and by programs that may read the whole library"
                    )
                }
            }
            try change(database, number)
        }
    }
}

extension MediaAlbum {
    /// What is selected of the albums that the reader in the first argument sees.
    static let selection = """
        SELECT album.id, album.name, album.created, shown.modified, shown.assets
        FROM shown JOIN album ON album.number = shown.album WHERE shown.reader = ?
        """

    /// Reads a row of `selection`.
    init(_ row: Row) throws {
        self.init()
        id = try row.decode(forColumn: "id")
        name = try row.decode(forColumn: "name")
        created = try row.decode(forColumn: "created")
        modified = try row.decode(forColumn: "modified")
        count = UInt64(clamping: try row.decode(Int64.self, forColumn: "assets"))
    }

    /// The album of an id, if the reader sees it.
    static func called(_ id: String, _ reader: String, _ database: Database) throws -> MediaAlbum? {
        try Row.fetchOne(
            database.cachedStatement(sql: "\(selection) AND album.id = ?"),
            arguments: [reader, id]
        ).map(MediaAlbum.init)
    }
}
