import CaptureCore
import GRDB

/// What a call on one asset needs to know of it.
struct AssetKey: Sendable {
    var number: Int64
    var kind: AssetKind
    var program: String
    var original: String
    var edit: String?
    var binned: Int64?

    /// The content that a version means.
    func content(_ version: AssetVersion) -> String {
        version == .current ? edit ?? original : original
    }
}

extension LibraryScope {
    /// Which rows of `asset` it has, as a condition and the values in it.
    var condition: (sql: String, arguments: [String]) {
        switch self {
        case .all: ("TRUE", [])
        case .limited(let program):
            (
                """
                (asset.binned IS NULL AND (asset.program = ? OR EXISTS(
                    SELECT 1 FROM listed WHERE listed.asset = asset.number AND listed.album = 0 AND listed.reader = ?)))
                """,
                [program, program]
            )
        case .nothing: ("FALSE", [])
        }
    }
}

extension Database {
    /// The asset of an id, as a reader sees it.
    ///
    /// - Throws: `invalidArgument` for what is no id; `noSuchAsset`, in the same words for one that does not exist and
    ///   one that the reader does not see.
    func key(_ id: String, _ scope: LibraryScope) throws -> AssetKey {
        try LibraryID.check(id, of: "an asset")
        let (condition, arguments) = scope.condition
        guard
            let row = try Row.fetchOne(
                cachedStatement(
                    sql: "SELECT number, kind, program, original, edit, binned FROM asset WHERE id = ? AND \(condition)"
                ),
                arguments: StatementArguments([id] + arguments)
            )
        else { throw CaptureError(.noSuchAsset, "there is no asset \(id)") }
        return AssetKey(
            number: try row.decode(forColumn: "number"),
            kind: try AssetKind(column: "kind", of: row),
            program: try row.decode(forColumn: "program"),
            original: try row.decode(forColumn: "original"),
            edit: try row.decode(String?.self, forColumn: "edit"),
            binned: try row.decode(Int64?.self, forColumn: "binned")
        )
    }

    /// The asset of an id, which is not in the bin.
    ///
    /// - Throws: Besides, `wrongState` for one in the bin.
    func keyOutsideBin(_ id: String, _ scope: LibraryScope) throws -> AssetKey {
        let key = try key(id, scope)
        guard key.binned == nil else {
            throw CaptureError(.wrongState, "the asset \(id) is in the bin; restore it first")
        }
        return key
    }
}
