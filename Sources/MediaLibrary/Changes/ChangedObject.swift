import CaptureCore
import GRDB

/// An asset or album to which something happened.
struct ChangedObject {
    /// The number of the first thing that happened to it.
    var number: Int64
    var id: String
    var isAlbum: Bool

    /// What happened to something between a token's moments comes in the order of the first thing that did, each once.
    static let statement = """
        SELECT number, object, isAlbum FROM change AS entry
        WHERE reader = :reader AND number > :told AND number <= :end AND NOT EXISTS(
            SELECT 1 FROM change AS earlier INDEXED BY changeOfObject
            WHERE earlier.reader = :reader AND earlier.object = entry.object
                AND earlier.number > :base AND earlier.number < entry.number
        )
        ORDER BY number LIMIT :limit
        """

    /// What became of it: whether it was visible at first and is at last, which the first and the last event of those
    /// kinds tell, and what else happened.
    static let outcome = """
        SELECT min(CASE WHEN event <= \(ChangeEvent.vanished) THEN number * 4 + event END) & 3 AS first,
            max(CASE WHEN event <= \(ChangeEvent.vanished) THEN number * 4 + event END) & 3 AS last,
            coalesce(max(event = \(ChangeEvent.changed)), 0) AS isChanged,
            coalesce(max(event = \(ChangeEvent.moved)), 0) AS isMoved
        FROM change INDEXED BY changeOfObject
        WHERE reader = :reader AND object = :object AND number > :base AND number <= :end
        """

    static func found(
        _ reader: String,
        _ token: ChangeToken,
        _ limit: Int,
        _ database: Database
    ) throws -> [ChangedObject] {
        // A difference begins at its base; what has been told is not looked at again.
        let told = max(token.told, token.base)
        return try Row.fetchAll(
            database.cachedStatement(sql: statement),
            arguments: ["reader": reader, "told": told, "base": token.base, "end": token.end, "limit": limit]
        ).map { row in
            ChangedObject(
                number: try row.decode(forColumn: "number"),
                id: try row.decode(forColumn: "object"),
                isAlbum: try row.decode(forColumn: "isAlbum")
            )
        }
    }
}

extension LibraryChanges {
    /// Takes in what became of an asset or album.
    mutating func add(_ object: ChangedObject, _ reader: String, _ token: ChangeToken, _ database: Database) throws {
        let outcome = try Row.fetchOne(
            database.cachedStatement(sql: ChangedObject.outcome),
            arguments: ["reader": reader, "object": object.id, "base": token.base, "end": token.end]
        )
        guard let outcome else { return }
        let first = try outcome.decode(Int64?.self, forColumn: "first")
        let last = try outcome.decode(Int64?.self, forColumn: "last")
        let wasVisible = first != ChangeEvent.appeared
        let isChanged = try outcome.decode(Bool.self, forColumn: "isChanged") || first != nil
        if object.isAlbum {
            let album = last == ChangeEvent.vanished ? nil : try MediaAlbum.called(object.id, reader, database)
            switch (wasVisible, album) {
            case (true, let album?): changedAlbums.append(album)
            case (false, let album?): insertedAlbums.append(album)
            case (true, nil): removedAlbums.append(object.id)
            case (false, nil): break
            }
            return
        }
        // It may have gone since the moment up to which it is told.
        let number =
            last == ChangeEvent.vanished ? nil : try Visibility.unbinned(object.id, reader, database)
        guard let number else {
            if wasVisible { removed.append(object.id) }
            return
        }
        let asset = try database.asset(number: number)
        if !wasVisible {
            inserted.append(asset)
        } else {
            if isChanged { changed.append(asset) }
            if try outcome.decode(forColumn: "isMoved") { moved.append(asset) }
        }
    }
}
