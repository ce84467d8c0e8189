import CaptureCore
import GRDB

/// A list of assets in the index: all, or those of an album or a reader, or both; and of those, what a program made.
struct AssetList: Hashable {
    /// The album's number, 0 for none.
    var album: Int64
    /// Whose choice it is, empty for nobody's.
    var reader: String
    /// Who made them, `nil` for everybody.
    var maker: String?

    /// Whether it is a part of the table of assets, not of the lists.
    var isWhole: Bool { album == 0 && reader.isEmpty }
}

/// A query in terms of the index: lists that have no asset in common.
struct Selection {
    var lists: [AssetList]
    var kinds: [MediaAssetKind]
    /// Whether unmarked ones, marked ones or both.
    var marks: [Int64]
    var isBinned: Bool
    var from: Int64?
    var until: Int64?

    /// - Throws: `noSuchAlbum` for one that the reader does not see; `notPermitted` when a program that does not see
    ///   everything looks into the bin.
    init(_ query: AssetFetchOptions, _ reader: String, _ database: Database) throws {
        kinds = MediaAssetKind.allCases.filter { query.kinds.isEmpty || query.kinds.contains($0) }
        marks = query.isFavourite.map { $0 ? [1] : [0] } ?? [0, 1]
        isBinned = query.isBinned
        from = query.from
        until = query.until
        guard !query.isBinned || reader.isEmpty else {
            throw Visibility.binIsClosed
        }
        var album: Int64 = 0
        if let id = query.album {
            guard let number = try Visibility.album(id, reader, database) else { throw Visibility.noSuchAlbum(id) }
            album = number
        }
        if reader.isEmpty || query.program == reader {
            lists = [AssetList(album: album, reader: "", maker: query.program)]
        } else if let program = query.program {
            lists = [AssetList(album: album, reader: reader, maker: program)]
        } else {
            lists = [
                AssetList(album: album, reader: "", maker: reader), AssetList(album: album, reader: reader),
            ]
        }
    }

    /// The part of a statement that names the table of a list, and the index by which it has to be found there.
    func source(_ list: AssetList, _ order: AssetFetchOptions.Order) -> String {
        let word = order.word
        guard list.isWhole else {
            return "listed INDEXED BY \(list.maker == nil ? "listedBy" : "listedOfMakerBy")\(word)"
        }
        switch (isBinned, list.maker == nil) {
        case (false, true): return "asset INDEXED BY assetBy\(word)"
        case (false, false): return "asset INDEXED BY assetOfProgramBy\(word)"
        case (true, true): return "asset INDEXED BY binBy\(word)"
        case (true, false): return "asset INDEXED BY binOfProgramBy\(word)"
        }
    }

    /// The condition for what is in a list, without kinds, marks and dates.
    func condition(_ list: AssetList) -> (sql: String, arguments: [any DatabaseValueConvertible]) {
        var sql: [String] = []
        var arguments: [any DatabaseValueConvertible] = []
        if list.isWhole {
            sql.append("binned IS \(isBinned ? "NOT " : "")NULL")
            if let maker = list.maker {
                sql.append("program = ?")
                arguments.append(maker)
            }
        } else {
            sql.append("album = ? AND reader = ? AND binned = ?")
            arguments += [list.album, list.reader, isBinned ? 1 : 0] as [any DatabaseValueConvertible]
            if let maker = list.maker {
                sql.append("maker = ?")
                arguments.append(maker)
            }
        }
        return (sql.joined(separator: " AND "), arguments)
    }

    /// The condition for the dates when they were made; empty without any.
    var dates: (sql: String, arguments: [any DatabaseValueConvertible]) { Selection.dates(from, until) }

    /// The condition for dates.
    static func dates(_ from: Int64?, _ until: Int64?) -> (sql: String, arguments: [any DatabaseValueConvertible]) {
        let bounds = [("created >= ?", from), ("created < ?", until)].compactMap { sql, value in value.map { (sql, $0) }
        }
        return (bounds.map(\.0).joined(separator: " AND "), bounds.map(\.1))
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
            kinds.contains(kind) ? marks.map { TallySchema.countColumns[2 * place + Int($0)] } : []
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
