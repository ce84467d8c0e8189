public import CaptureCore
import GRDB

extension MediaLibrary {
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
        return try read { database in
            let sealing = try Sealing(database)
            let selection = try Selection(query, reader, database)
            let place = try PagePlace(query, scope, sealing)
            let statement = try MediaLibrary.statement(query, selection, place, database)
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

    /// The statement for a page.
    ///
    /// Dates together with another order than theirs have no index of their own: few assets of these dates are sorted, of
    /// many the ordered ones are gone through, so that both ways together take no more than the root of what there is.
    static func statement(
        _ query: AssetFetchOptions,
        _ selection: Selection,
        _ place: PagePlace?,
        _ database: Database
    ) throws -> PageStatement {
        var sortsDates = false
        if query.order != .created, query.from != nil || query.until != nil {
            var all = selection
            (all.from, all.until) = (nil, nil)
            let dated = try selection.count(database)
            sortsDates =
                try dated * dated
                <= (query.pageSize + 1) * all.count(database)
        }
        return PageStatement(query, selection, after: place, sortsDates: sortsDates)
    }
}

extension PagePlace {
    /// The place of a row of a page.
    fileprivate init(_ row: Row, _ order: AssetFetchOptions.Order) throws {
        key =
            order == .name
            ? .name(try row.decode(forColumn: "pageKey")) : .number(try row.decode(forColumn: "pageKey"))
        number = try row.decode(forColumn: "pageNumber")
    }
}
