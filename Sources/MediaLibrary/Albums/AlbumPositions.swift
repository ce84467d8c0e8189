import CaptureCore
import GRDB

/// Where assets lie in an album: numbers with room between them, so that moving one touches no other.
enum AlbumPositions {
    /// From one position to the next at first.
    static let distance: Int64 = 1 << 20

    /// Where an asset is in an album; `nil` when it is not in it.
    static func position(_ asset: Int64, _ album: Int64, _ database: Database) throws -> Int64? {
        try Int64.fetchOne(
            database.cachedStatement(sql: "SELECT position FROM listed WHERE asset = ? AND album = ? AND reader = ''"),
            arguments: [asset, album]
        )
    }

    /// Gives assets of an album positions before another, or at the end.
    static func place(_ assets: [Int64], _ album: Int64, before next: Int64?, _ database: Database) throws {
        guard let next, let end = try position(next, album, database) else {
            let tail = try Int64.fetchOne(database, sql: "SELECT tail FROM album WHERE number = ?", arguments: [album])
            try put(assets, album, from: tail ?? 0, by: distance, database)
            try database.execute(
                sql: "UPDATE album SET tail = tail + ? WHERE number = ?",
                arguments: [Int64(assets.count) * distance, album]
            )
            return
        }
        let start = try Int64.fetchOne(
            database.cachedStatement(
                sql: "SELECT max(position) FROM listed INDEXED BY member "
                    + "WHERE album = ? AND reader = '' AND position < ?"
            ),
            arguments: [album, end]
        )
        let room = (end - (start ?? end - distance)) / Int64(assets.count + 1)
        guard room > 0 else {
            // So many were put into one gap that it is used up. That takes twenty halvings, so that it is seldom.
            try spread(assets.count, album, database)
            return try place(assets, album, before: next, database)
        }
        try put(assets, album, from: start ?? end - distance, by: room, database)
    }

    /// Tells the readers that an asset has another place.
    static func noteMove(_ id: String, _ asset: Int64, _ album: Int64, _ database: Database) throws {
        let readers = """
            (SELECT '' AS reader
                UNION ALL SELECT program FROM asset WHERE number = :asset
                UNION ALL SELECT reader FROM listed WHERE asset = :asset AND album = :album AND reader != '')
            """
        try database.cachedStatement(
            sql: "INSERT INTO showing(reader, album, change) SELECT reader, :album, 0 FROM \(readers)"
        ).execute(arguments: ["asset": asset, "album": album])
        try database.cachedStatement(
            sql: "INSERT INTO noting(reader, object, isAlbum, event) "
                + "SELECT reader, :id, 0, \(ChangeEvent.moved) FROM \(readers)"
        ).execute(arguments: ["asset": asset, "album": album, "id": id])
    }

    private static func put(
        _ assets: [Int64],
        _ album: Int64,
        from start: Int64,
        by step: Int64,
        _ database: Database
    ) throws {
        for (place, asset) in assets.enumerated() {
            try database.cachedStatement(
                sql: "UPDATE listed SET position = ? WHERE asset = ? AND album = ? AND reader = ''"
            ).execute(arguments: [start + Int64(place + 1) * step, asset, album])
        }
    }

    /// Gives every asset of an album a new position, in the same order, with room for so many more between any two.
    private static func spread(_ count: Int, _ album: Int64, _ database: Database) throws {
        let step = max(distance, Int64(count + 1) * 2)
        try database.execute(
            sql: """
                UPDATE listed SET position = place.position FROM (
                    SELECT asset AS number, ? * row_number() OVER (ORDER BY position) AS position
                    FROM listed WHERE album = ? AND reader = ''
                ) AS place
                WHERE listed.asset = place.number AND listed.album = ? AND listed.reader = ''
                """,
            arguments: [step, album, album]
        )
        try database.execute(
            sql: """
                UPDATE album
                SET tail = (SELECT coalesce(max(position), 0) FROM listed WHERE album = number AND reader = '')
                WHERE number = ?
                """,
            arguments: [album]
        )
    }
}
