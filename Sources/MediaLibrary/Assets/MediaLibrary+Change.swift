public import CaptureCore
import GRDB

extension MediaLibrary {
    /// Changes what is said of an asset; its contents stay as they are.
    ///
    /// - Returns: The asset as it is now.
    /// - Throws: `noSuchAsset` for one that the scope does not have; `wrongState` for one in the bin; `invalidArgument`
    ///   for a name or date that may not be stored; `inputOutput`.
    public func change(_ id: String, _ change: AssetChanges, scope: LibraryScope) throws(CaptureError) -> MediaAsset {
        try change.check()
        return try write { database in
            let key = try database.keyOutsideBin(id, scope)
            guard change != AssetChanges() else { return try database.asset(number: key.number) }
            let place = change.removesPlace ? nil : change.place
            let changesPlace = change.removesPlace || place != nil
            try database.cachedStatement(
                sql: """
                    UPDATE asset SET name = coalesce(?, name), created = coalesce(?, created),
                        favourite = coalesce(?, favourite), latitude = iif(?, ?, latitude),
                        longitude = iif(?, ?, longitude), modified = ? WHERE number = ?
                    """
            ).execute(
                arguments: [
                    change.name, change.created, change.isFavourite, changesPlace, place?.latitude,
                    changesPlace, place?.longitude, now(), key.number,
                ]
            )
            return try database.asset(number: key.number)
        }
    }
}

extension AssetChanges {
    fileprivate func check() throws(CaptureError) {
        if let name { try LibraryName.check(name, of: "a file") }
        if let created { try AssetDraft.checkTime(created) }
        if let place, !removesPlace { _ = try place.checked() }
    }
}
