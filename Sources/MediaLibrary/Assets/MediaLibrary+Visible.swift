import CaptureCore
import GRDB

/// What a call on one asset needs to know of it.
struct AssetKey: Sendable {
    var number: Int64
    var kind: MediaAssetKind
    var program: String
    var original: String
    var edit: String?
    var binned: Int64?

    /// The content that a version means.
    func content(_ version: AssetVersion) -> String {
        version == .current ? edit ?? original : original
    }
}

extension Database {
    /// The asset of an id, as a reader sees it.
    ///
    /// - Throws: `invalidArgument` for what is no id; `noSuchAsset`, in the same words for one that does not exist and
    ///   one that the reader does not see.
    func key(_ id: String, _ scope: LibraryScope) throws -> AssetKey {
        try LibraryID.check(id, of: "an asset")
        guard let reader = scope.reader else { throw Visibility.noSuchAsset(id) }
        let all = "SELECT number, kind, program, original, edit, binned FROM asset WHERE id = :id"
        let row =
            try reader.isEmpty
            ? Row.fetchOne(cachedStatement(sql: all), arguments: ["id": id])
            : Row.fetchOne(
                cachedStatement(sql: "\(all) AND \(Visibility.condition)"),
                arguments: ["id": id, "reader": reader]
            )
        guard let row else { throw Visibility.noSuchAsset(id) }
        return AssetKey(
            number: try row.decode(forColumn: "number"),
            kind: try MediaAssetKind(column: "kind", of: row),
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
