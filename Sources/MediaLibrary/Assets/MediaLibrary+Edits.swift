public import CaptureCore
import GRDB
import Synchronization

extension MediaLibrary {
    /// Begins to add an edit of an asset: the original stays beside it, and an earlier edit goes when this one is
    /// committed. Its bytes count for the program that made the asset.
    ///
    /// - Throws: `noSuchAsset` for one that the scope does not have; `wrongState` for one in the bin; `overQuota`;
    ///   `inputOutput`.
    public func beginEdit(_ id: String, scope: LibraryScope) throws(CaptureError) -> LibraryImport {
        let key = try read { try $0.keyOutsideBin(id, scope) }
        return try LibraryImport(self, .edit(of: key.number, kind: key.kind), program: key.program)
    }

    /// Goes back to the original; nothing for an asset without an edit.
    ///
    /// - Returns: The asset as it is now.
    /// - Throws: `noSuchAsset`; `wrongState` for one in the bin; `inputOutput`.
    public func revert(_ id: String, scope: LibraryScope) throws(CaptureError) -> Asset {
        try turn.withLock { _ throws(CaptureError) in
            try write { database in
                let key = try database.keyOutsideBin(id, scope)
                guard key.edit != nil else {
                    return Released(value: try database.asset(number: key.number), hashes: [])
                }
                return try database.setEdit(nil, ofNumber: key.number, self)
            }
        }.swept(self)
    }
}

extension Database {
    /// Gives an asset an edit whose content is in the index, or takes it away.
    func setEdit(_ hash: String?, ofNumber number: Int64, _ library: MediaLibrary) throws -> Released<Asset> {
        let row = try Row.fetchOne(
            cachedStatement(sql: "SELECT program, edit FROM asset WHERE number = ? AND binned IS NULL"),
            arguments: [number]
        )
        guard let row else { throw CaptureError(.noSuchAsset, "the asset was deleted meanwhile") }
        let former: String? = try row.decode(String?.self, forColumn: "edit")
        try cachedStatement(sql: "UPDATE asset SET edit = ?, modified = ? WHERE number = ?")
            .execute(arguments: [hash, library.now(), number])
        if hash != nil { try library.checkQuota(self, of: row.decode(forColumn: "program")) }
        return Released(value: try asset(number: number), hashes: try release(former.map { [$0] } ?? []))
    }
}
