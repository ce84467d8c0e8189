import CaptureCore
import GRDB

extension LibraryScope {
    /// Who reads, as the index names it: the empty word for those that see everything, `nil` for those that see nothing.
    var reader: String? {
        switch self {
        case .all: ""
        case .limited(let program): program.isEmpty ? nil : program
        case .nothing: nil
        }
    }

    /// What a token or a place in a page is sealed for.
    var identity: String {
        switch self {
        case .all: "all"
        case .limited(let program): "limited:\(program)"
        case .nothing: "nothing"
        }
    }
}

/// How the index tells whether a reader sees something.
enum Visibility {
    /// The condition for an asset that is not in the bin, with the reader in the argument `:reader`, which is not that of
    /// all.
    static let condition = """
        asset.binned IS NULL AND (
            asset.program = :reader
            OR EXISTS(SELECT 1 FROM listed WHERE asset = asset.number AND album = 0 AND reader = :reader)
        )
        """

    /// The word for an asset that is not there or not visible, which is the same for both.
    static func noSuchAsset(_ id: String) -> CaptureError {
        CaptureError(.noSuchAsset, "there is no asset \(id)")
    }

    /// The same for an album.
    static func noSuchAlbum(_ id: String) -> CaptureError {
        CaptureError(.noSuchAlbum, "there is no album \(id)")
    }

    /// The word for the bin, to a reader that does not see everything.
    static let binIsClosed = CaptureError(
        .notPermitted,
        "only programs that may read the whole library can see the bin"
    )

    /// The number of an asset that a reader sees; those in the bin are seen by those alone that see everything.
    static func asset(_ id: String, _ reader: String, _ database: Database) throws -> Int64? {
        guard !reader.isEmpty else {
            return try Int64.fetchOne(
                database.cachedStatement(sql: "SELECT number FROM asset WHERE id = ?"),
                arguments: [id]
            )
        }
        return try Int64.fetchOne(
            database.cachedStatement(sql: "SELECT number FROM asset WHERE id = :id AND \(condition)"),
            arguments: ["id": id, "reader": reader]
        )
    }

    /// The number of an album that a reader sees.
    static func album(_ id: String, _ reader: String, _ database: Database) throws -> Int64? {
        try Int64.fetchOne(
            database.cachedStatement(
                sql: "SELECT album.number FROM album JOIN shown ON shown.reader = ? AND shown.album = album.number "
                    + "WHERE album.id = ?"
            ),
            arguments: [reader, id]
        )
    }
}
