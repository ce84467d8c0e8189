public import CaptureCore
import GRDB
import Synchronization

extension MediaLibrary {
    /// Begins to add an edit of an asset: the original stays beside it, and an earlier edit goes when this one is
    /// committed. Its bytes count for the program that made the asset, and for the one that edits it.
    ///
    /// - Parameters:
    ///   - id: The asset's id.
    ///   - scope: What the program that edits it sees. It has to see the asset still when the edit is committed.
    ///   - program: The id of that program.
    /// - Throws: `noSuchAsset` for one that the scope does not have; `wrongState` for one in the bin; `overQuota`;
    ///   `inputOutput`.
    public func beginEdit(
        _ id: String,
        scope: LibraryScope,
        program: String
    ) throws(CaptureError) -> LibraryImport {
        let key = try read { try $0.keyOutsideBin(id, scope) }
        return try LibraryImport(
            self,
            .edit(of: id, scope: scope, kind: key.kind, maker: key.program),
            program: program
        )
    }

    /// Goes back to the original; nothing for an asset without an edit.
    ///
    /// - Returns: The asset as it is now.
    /// - Throws: `noSuchAsset`; `wrongState` for one in the bin; `inputOutput`.
    public func revert(_ id: String, scope: LibraryScope) throws(CaptureError) -> MediaAsset {
        try turn.withLock { _ throws(CaptureError) in
            try write { database in
                let key = try database.keyOutsideBin(id, scope)
                guard key.edit != nil else {
                    return Released(value: try database.asset(number: key.number), hashes: [])
                }
                return try database.setEdit(nil, by: nil, of: key, self)
            }
        }.swept(self)
    }
}

extension Database {
    /// Gives an asset an edit whose content is in the index, or takes it away.
    ///
    /// - Parameter editor: The id of the program that made the edit.
    func setEdit(
        _ hash: String?,
        by editor: String?,
        of key: AssetKey,
        _ library: MediaLibrary
    ) throws -> Released<MediaAsset> {
        try cachedStatement(sql: "UPDATE asset SET edit = ?, editor = ?, modified = ? WHERE number = ?")
            .execute(arguments: [hash, editor, library.now(), key.number])
        if let editor {
            try library.checkQuota(self, of: editor)
            if editor != key.program {
                try library.checkQuota(self, of: key.program, called: "the program that made the asset")
            }
        }
        return Released(value: try asset(number: key.number), hashes: try release(key.edit.map { [$0] } ?? []))
    }
}
