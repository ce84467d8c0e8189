public import CaptureCore
import GRDB

extension MediaLibrary {
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
        return try read { database in try Selection(query, reader, database).count(database) }
    }
}

extension Selection {
    /// How many assets it holds.
    func count(_ database: Database) throws -> Int {
        let spans = DateSpans(from: from, until: until)
        return try lists.reduce(0) { sum, list in
            try sum + counted(list, spans.tallied, database)
                + spans.rest.reduce(0) { try $0 + count(list, $1, database) }
        }
    }

    /// How many the tallies have in whole spans.
    private func counted(_ list: AssetList, _ spans: [DateSpans.Tallied], _ database: Database) throws -> Int {
        guard !spans.isEmpty else { return 0 }
        let columns = MediaAssetKind.allCases.enumerated().flatMap { place, kind in
            kinds.contains(kind) ? marks.map { LibrarySchema.Reading.countColumns[2 * place + Int($0)] } : []
        }
        // As many spans in every statement, so that there are few different ones.
        let room = spans.count == 1 ? 1 : DateSpans.most
        let padded = spans + Array(repeating: DateSpans.Tallied(level: 0, buckets: 0..<0), count: room - spans.count)
        let arguments = padded.flatMap { [$0.level, $0.buckets.lowerBound, $0.buckets.upperBound] }
        return try Int.fetchOne(
            database.cachedStatement(
                sql: """
                    SELECT coalesce(sum(\(columns.joined(separator: " + "))), 0)
                    FROM (
                        SELECT column1 AS level, column2 AS low, column3 AS high
                        FROM (VALUES\(Array(repeating: "(?, ?, ?)", count: room).joined(separator: ", ")))
                    ) AS span
                    CROSS JOIN tally ON tally.album = ? AND tally.reader = ? AND tally.maker = ? AND tally.binned = ?
                        AND tally.level = span.level AND tally.bucket >= span.low AND tally.bucket < span.high
                    """
            ),
            arguments: StatementArguments(arguments)
                + [list.album, list.reader, list.maker ?? "", isBinned ? 1 : 0]
        ) ?? 0
    }

    /// How many there are in a span that is shorter than the tallies know, one by one.
    private func count(_ list: AssetList, _ span: Range<Int64>, _ database: Database) throws -> Int {
        let condition = condition(list)
        return try Int.fetchOne(
            database.cachedStatement(
                sql: """
                    SELECT count(*) FROM \(source(list, .created))
                    WHERE \(condition.sql) AND kind IN (\(kinds.map { "'\($0.rawValue)'" }.joined(separator: ", ")))
                        AND favourite IN (\(marks.map { "\($0)" }.joined(separator: ", ")))
                        AND created >= ? AND created < ?
                    """
            ),
            arguments: StatementArguments(condition.arguments + [span.lowerBound, span.upperBound])
        ) ?? 0
    }
}
