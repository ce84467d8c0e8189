public import CaptureCore
import GRDB

/// The assets, as queries over the index. Thread-safe; calls wait for the disk.
public struct LibraryAssets: Sendable {
    /// How many digits of an id are the fewest to find it by. Of a million assets few begin with the same six, so that it
    /// takes as long whatever the reader does not see.
    public static let fewestDigits = 6
    /// How many assets are told of each beginning: enough to say that there are several.
    public static let mostFound = 10
    private let base: LibraryBase

    init(_ base: LibraryBase) { self.base = base }

    /// One asset.
    ///
    /// - Parameters:
    ///   - id: Its id.
    ///   - scope: What the reader sees. One that sees everything sees assets in the bin too.
    /// - Throws: `invalidArgument` for a malformed id; `noSuchAsset` for an asset that the reader does not see.
    public func asset(_ id: String, scope: LibraryScope) throws(CaptureError) -> MediaAsset {
        try LibraryID.check(id, of: "an asset")
        guard let reader = scope.reader else { throw Visibility.noSuchAsset(id) }
        return try base.index.read { database in
            guard let number = try Visibility.asset(id, reader, database) else { throw Visibility.noSuchAsset(id) }
            return try database.asset(number: number)
        }
    }

    /// A page of the assets that a query finds. Takes as long in a large library as in a small one.
    ///
    /// While the library changes, pages never show an asset twice or leave out one that stays as it is.
    ///
    /// - Parameters:
    ///   - query: Which assets, in which order, and which page.
    ///   - scope: What the reader sees.
    /// - Throws: `invalidArgument` for a query that means nothing; `noSuchAlbum` for an album that is not there or that
    ///   the reader does not see; `staleToken` for a page that is not one of this query, reader and library;
    ///   `notPermitted` when a reader that does not see everything looks into the bin.
    public func fetch(_ query: AssetFetchOptions, scope: LibraryScope) throws(CaptureError) -> AssetPage {
        try query.check()
        guard let reader = scope.reader else { return AssetPage() }
        return try base.index.read { database in
            let sealing = try Sealing(database)
            let selection = try Selection(query, reader, database)
            let place = try PagePlace(query, scope, sealing)
            let statement = try PageStatement.best(query, selection, place, database)
            let rows = try Row.fetchAll(
                database.cachedStatement(sql: statement.sql),
                arguments: StatementArguments(statement.arguments + [query.pageSize + 1])
            )
            var page = AssetPage(assets: try rows.prefix(query.pageSize).map(MediaAsset.init))
            if rows.count > query.pageSize {
                page.next = try PagePlace(rows[query.pageSize - 1], query.order).sealed(query, scope, sealing)
            }
            return page
        }
    }

    /// How many assets a query finds on all its pages together. Takes as long for many as for few.
    ///
    /// - Parameters:
    ///   - query: Which are counted; its order, page and limit have no meaning.
    ///   - scope: What the reader sees.
    /// - Throws: `invalidArgument` for a query that means nothing; `noSuchAlbum` for an album that is not there or that
    ///   the reader does not see; `notPermitted` when a reader that does not see everything counts the bin.
    public func count(_ query: AssetFetchOptions, scope: LibraryScope) throws(CaptureError) -> Int {
        try query.check()
        guard let reader = scope.reader else { return 0 }
        return try base.index.read { database in try Selection(query, reader, database).count(database) }
    }

    /// The ids that begin with some digits.
    ///
    /// - Parameters:
    ///   - beginnings: The first 6 to 32 digits of ids, hexadecimal and in lower case.
    ///   - isBinned: Whether those in the bin are looked for, in place of the others.
    ///   - scope: What the reader sees.
    /// - Returns: In the order of the beginnings, ten of each at most.
    /// - Throws: `invalidArgument` for what no id begins with; `notPermitted` when a reader that does not see everything
    ///   looks into the bin.
    public func ids(
        beginningWith beginnings: [String],
        isBinned: Bool = false,
        scope: LibraryScope
    ) throws(CaptureError) -> [String] {
        for beginning in beginnings { try LibraryID.check(beginning: beginning) }
        guard let reader = scope.reader else { return [] }
        if isBinned, !reader.isEmpty { throw Visibility.binIsClosed }
        let state = isBinned ? "binned IS NOT NULL" : reader.isEmpty ? "binned IS NULL" : Visibility.condition
        // After all digits.
        let end = "g"
        return try base.index.read { database in
            let statement = try database.cachedStatement(
                sql: "SELECT id FROM asset WHERE id >= :from AND id < :until AND \(state) ORDER BY id LIMIT :most"
            )
            return try beginnings.flatMap { beginning in
                var arguments: StatementArguments = [
                    "from": beginning, "until": beginning + end, "most": LibraryAssets.mostFound,
                ]
                if !isBinned, !reader.isEmpty { arguments += ["reader": reader] }
                return try String.fetchAll(statement, arguments: arguments)
            }
        }
    }

    /// Changes what is said of an asset; its contents stay as they are.
    ///
    /// - Returns: The asset as it is now.
    /// - Throws: `noSuchAsset` for one that the scope does not have; `wrongState` for one in the bin; `invalidArgument`
    ///   for a name or date that may not be stored; `inputOutput`.
    public func change(_ id: String, _ change: AssetChanges, scope: LibraryScope) throws(CaptureError) -> MediaAsset {
        try change.check()
        return try base.index.write { database in
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
                    changesPlace, place?.longitude, base.now(), key.number,
                ]
            )
            return try database.asset(number: key.number)
        }
    }

    /// Goes back to the original; nothing for an asset without an edit.
    ///
    /// - Returns: The asset as it is now.
    /// - Throws: `noSuchAsset`; `wrongState` for one in the bin; `inputOutput`.
    public func revert(_ id: String, scope: LibraryScope) throws(CaptureError) -> MediaAsset {
        try base.contents.releasing { database in
            let key = try database.keyOutsideBin(id, scope)
            guard key.edit != nil else {
                return Released(value: try database.asset(number: key.number), hashes: [])
            }
            return try database.setEdit(nil, by: nil, of: key, base.quotas, at: base.now())
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
