public import CaptureCore
import GRDB

/// What is in the albums, as queries over the index. Thread-safe; calls wait for the disk.
public struct AlbumMembers: Sendable {
    /// How many assets one call puts into an album, takes out or moves.
    public static let mostAtOnce = 10_000
    private let index: LibraryIndex

    init(_ index: LibraryIndex) { self.index = index }

    /// Puts assets at the end of an album, in the order given; those that are in it already stay where they are.
    ///
    /// - Parameters:
    ///   - assets: Their ids, 10,000 at most.
    ///   - album: The album's id.
    ///   - scope: What the program sees.
    /// - Returns: How many were not in it.
    /// - Throws: `invalidArgument` for what is no id or too many; `noSuchAlbum`; `noSuchAsset` when there is one that the
    ///   program does not see or that is in the bin. Nothing has changed then.
    @discardableResult
    public func add(
        _ assets: [String],
        toAlbum album: String,
        scope: LibraryScope
    ) throws(CaptureError) -> Int {
        try change(assets, album, scope) { database, album, numbers in
            var tail =
                try Int64.fetchOne(
                    database,
                    sql: "SELECT tail FROM album WHERE number = ?",
                    arguments: [album]
                ) ?? 0
            var added = 0
            for (_, number) in numbers where try AlbumPositions.position(number, album, database) == nil {
                tail += AlbumPositions.distance
                added += 1
                try database.cachedStatement(
                    sql: """
                        INSERT INTO listed(
                            asset, album, reader, position, maker, binned, kind, favourite, created, added, name
                        )
                        SELECT number, ?, '', ?, program, binned IS NOT NULL, kind, favourite, created, added, name
                        FROM asset WHERE number = ?
                        """
                ).execute(arguments: [album, tail, number])
            }
            try database.execute(sql: "UPDATE album SET tail = ? WHERE number = ?", arguments: [tail, album])
            return added
        }
    }

    /// Takes assets out of an album; those that are not in it count for nothing.
    ///
    /// - Returns: How many were in it.
    /// - Throws: As `add(_:toAlbum:scope:)`.
    @discardableResult
    public func remove(
        _ assets: [String],
        fromAlbum album: String,
        scope: LibraryScope
    ) throws(CaptureError) -> Int {
        try change(assets, album, scope) { database, album, numbers in
            var removed = 0
            for (_, number) in numbers {
                try database.cachedStatement(sql: "DELETE FROM listed WHERE asset = ? AND album = ? AND reader = ''")
                    .execute(arguments: [number, album])
                removed += database.changesCount
            }
            return removed
        }
    }

    /// Moves assets within an album, in the order given.
    ///
    /// - Parameters:
    ///   - assets: Their ids, 10,000 at most, all of the album.
    ///   - album: The album's id.
    ///   - next: The id of the asset before which they come, not one of them; `nil` for the end.
    ///   - scope: What the program sees.
    /// - Throws: As `add(_:toAlbum:scope:)`; `invalidArgument` for one that is not in the album, or to be before itself.
    public func move(
        _ assets: [String],
        inAlbum album: String,
        before next: String?,
        scope: LibraryScope
    ) throws(CaptureError) {
        if let next {
            try LibraryID.check(next, of: "an asset")
            guard !assets.contains(next) else {
                throw CaptureError(.invalidArgument, "the asset \(next) cannot be put before itself; name another")
            }
        }
        let all = assets + (next.map { [$0] } ?? [])
        try change(all, album, scope, most: AlbumMembers.mostAtOnce + 1) { database, album, numbers in
            for (id, number) in numbers where try AlbumPositions.position(number, album, database) == nil {
                throw CaptureError(.invalidArgument, "the asset \(id) is not in the album; add it first")
            }
            let moved = next == nil ? numbers[...] : numbers.dropLast()
            let following = next == nil ? nil : numbers.last?.number
            try AlbumPositions.place(moved.map(\.number), album, before: following, database)
            for (id, number) in moved { try AlbumPositions.noteMove(id, number, album, database) }
        }
    }

    /// Finds album and assets, each once, and changes them in one transaction.
    private func change<T>(
        _ assets: [String],
        _ album: String,
        _ scope: LibraryScope,
        most: Int = AlbumMembers.mostAtOnce,
        _ body: (Database, Int64, [(id: String, number: Int64)]) throws -> T
    ) throws(CaptureError) -> T {
        try LibraryID.check(album, of: "an album")
        guard assets.count <= most else {
            throw CaptureError(
                .invalidArgument,
                "\(assets.count) assets are too many at once; name \(AlbumMembers.mostAtOnce) at most"
            )
        }
        for id in assets { try LibraryID.check(id, of: "an asset") }
        guard let reader = scope.reader else { throw Visibility.noSuchAlbum(album) }
        return try index.write { database in
            guard let albumNumber = try Visibility.album(album, reader, database) else {
                throw Visibility.noSuchAlbum(album)
            }
            var seen: Set<String> = []
            let numbers = try assets.filter { seen.insert($0).inserted }.map { id in
                guard let number = try Visibility.unbinned(id, reader, database) else {
                    throw Visibility.noSuchAsset(id)
                }
                return (id: id, number: number)
            }
            return try body(database, albumNumber, numbers)
        }
    }
}

extension Visibility {
    /// The number of an asset that a reader sees and that is not in the bin.
    static func unbinned(_ id: String, _ reader: String, _ database: Database) throws -> Int64? {
        guard reader.isEmpty else { return try asset(id, reader, database) }
        return try Int64.fetchOne(
            database.cachedStatement(sql: "SELECT number FROM asset WHERE id = ? AND binned IS NULL"),
            arguments: [id]
        )
    }
}
