public import CaptureCore
import GRDB

extension MediaLibrary {
    /// Begins to add a photo, a movie or a sound.
    ///
    /// - Parameters:
    ///   - draft: What the program says of it.
    ///   - program: The id of the program that adds it.
    /// - Throws: `invalidArgument` for a name or date that may not be stored; `overQuota`; `inputOutput`.
    public func beginImport(_ draft: AssetDraft, program: String) throws(CaptureError) -> LibraryImport {
        try draft.check()
        return try LibraryImport(self, .asset(draft), program: program)
    }
}

extension MediaFacts {
    /// Refuses what cannot be stored; examining would not say it.
    func check() throws(CaptureError) {
        guard duration >= 0 else { throw CaptureError(.badData, "the duration \(duration) ns is negative") }
        try LibraryName.checkText(mediaType, "the media type")
        try LibraryName.checkText(codec, "the codec")
        guard !mediaType.isEmpty else { throw CaptureError(.badData, "the media type is not known") }
    }

    /// When it was made by its own account, if that can be.
    var plausibleCreation: Int64? {
        guard let created, (try? AssetDraft.checkTime(created)) != nil else { return nil }
        return created
    }
}

extension Database {
    /// Adds an asset whose content is there.
    ///
    /// - Parameter isPersons: Whether the person adds it, whom the program's quota does not hold back.
    func insert(
        _ draft: AssetDraft,
        program: String,
        isPersons: Bool = false,
        content hash: String,
        _ facts: MediaFacts,
        _ library: MediaLibrary
    ) throws -> MediaAsset {
        let id = LibraryID.make()
        let now = library.now()
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
        try library.checkQuota(self, of: isPersons ? nil : program)
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
}
