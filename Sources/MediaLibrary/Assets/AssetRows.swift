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

    /// Adds an asset whose content is there.
    ///
    /// - Parameter isPersons: Whether the person adds it, whom the program's quota does not hold back.
    func insert(
        _ draft: AssetDraft,
        program: String,
        isPersons: Bool = false,
        content hash: String,
        _ facts: ExaminedMedia,
        _ quotas: LibraryQuotas,
        at now: Int64
    ) throws -> MediaAsset {
        let id = LibraryID.make()
        let created = draft.created ?? facts.plausibleCreation ?? now
        let name = draft.name.isEmpty ? LibraryName.standard(facts, created: created) : draft.name
        try cachedStatement(
            sql: """
                INSERT INTO asset(id, kind, name, created, modified, added, device, latitude, longitude, favourite,
                    program, original)
                VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(
            arguments: [
                id, facts.kind.rawValue, name, created, now, now, draft.device, draft.place?.latitude,
                draft.place?.longitude, draft.isFavourite, program, hash,
            ]
        )
        try quotas.check(self, of: isPersons ? nil : program)
        return try asset(number: lastInsertedRowID)
    }

    /// An asset of this number, which is there.
    func asset(number: Int64) throws -> MediaAsset {
        guard
            let row = try Row.fetchOne(
                cachedStatement(sql: "SELECT \(MediaAsset.columns) FROM \(MediaAsset.origin) WHERE asset.number = ?"),
                arguments: [number]
            )
        else { throw CaptureError(.noSuchAsset, "the asset is gone") }
        return try MediaAsset(row)
    }

    /// Gives an asset an edit whose content is in the index, or takes it away.
    ///
    /// - Parameter editor: The id of the program that made the edit.
    func setEdit(
        _ hash: String?,
        by editor: String?,
        of key: AssetKey,
        _ quotas: LibraryQuotas,
        at now: Int64
    ) throws -> Released<MediaAsset> {
        try cachedStatement(sql: "UPDATE asset SET edit = ?, editor = ?, modified = ? WHERE number = ?")
            .execute(arguments: [hash, editor, now, key.number])
        if let editor {
            try quotas.check(self, of: editor)
            if editor != key.program {
                try quotas.check(self, of: key.program, called: "the program that made the asset")
            }
        }
        return Released(value: try asset(number: key.number), hashes: try release(key.edit.map { [$0] } ?? []))
    }
}
