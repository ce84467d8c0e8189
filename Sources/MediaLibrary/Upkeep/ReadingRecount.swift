import CaptureCore
import GRDB

/// What the triggers keep, found once more from where it comes from.
enum ReadingRecount {
    /// Where lists, counts and what readers see of albums do not follow from the assets, one sentence each; empty when
    /// all is well. Looks at everything, so that it takes long in a large library.
    static func faults(_ database: Database) throws -> [String] {
        try questions.compactMap { question in
            let found = try Int.fetchOne(database, sql: question.sql) ?? 0
            return found == 0 ? nil : "\(found) \(question.what)"
        }
    }

    /// What has to find nothing, with the words for what it finds.
    private static let questions: [(what: String, sql: String)] = [
        (
            "counts are not those of the assets",
            "SELECT count(*) FROM (\(counted) EXCEPT \(tallied)) "
        ),
        (
            "counts are of assets that are not there",
            "SELECT count(*) FROM (\(tallied) EXCEPT \(counted))"
        ),
        (
            "listed assets are not as in the list of all",
            """
            SELECT count(*) FROM listed LEFT JOIN asset ON asset.number = listed.asset
            WHERE (maker, listed.binned, listed.kind, listed.favourite, listed.created, listed.added, listed.name)
                IS NOT (program, asset.binned IS NOT NULL, asset.kind, asset.favourite, asset.created, asset.added,
                    asset.name)
            """
        ),
        (
            "chosen assets are in albums for nobody, or the other way round",
            """
            SELECT count(*) FROM (
                SELECT asset, album, reader, position FROM (\(both))
                EXCEPT SELECT asset, album, reader, position FROM listed WHERE album != 0 AND reader != ''
            )
            """
        ),
        (
            "assets are in albums of readers that do not see them",
            """
            SELECT count(*) FROM (
                SELECT asset, album, reader, position FROM listed WHERE album != 0 AND reader != ''
                EXCEPT SELECT asset, album, reader, position FROM (\(both))
            )
            """
        ),
        (
            "albums are shown with assets that are not there",
            "SELECT count(*) FROM (SELECT reader, album, assets, made FROM shown EXCEPT \(showing))"
        ),
        (
            "albums are not shown, or without some of their assets",
            "SELECT count(*) FROM (\(showing) EXCEPT SELECT reader, album, assets, made FROM shown)"
        ),
    ]

    /// Makes lists, counts and what readers see of albums anew from the assets, choices and memberships. Tokens stay
    /// good; albums and their assets may be told of as moved that are as before.
    ///
    /// The triggers go on reckoning meanwhile, from sums that may be wrong: so these go before and once more after.
    static let rebuild = """
        DELETE FROM tally;
        DELETE FROM shown;
        DELETE FROM listed WHERE asset NOT IN (SELECT number FROM asset)
            OR album != 0 AND (reader != '' OR album NOT IN (SELECT number FROM album))
            OR reader = (SELECT program FROM asset WHERE number = listed.asset);
        UPDATE listed SET (maker, binned, kind, favourite, created, added, name) = (
            SELECT program, binned IS NOT NULL, kind, favourite, created, added, name
            FROM asset WHERE number = listed.asset
        );
        INSERT INTO listed(asset, album, reader, position, maker, binned, kind, favourite, created, added, name)
            SELECT * FROM (\(both));
        DELETE FROM shown;
        INSERT INTO shown(reader, album, assets, made, modified)
            SELECT reader, album, assets, made, \(ReadingSchema.clock) FROM (\(showing));
        DELETE FROM tally;
        INSERT INTO posting(album, reader, maker, binned, kind, favourite, created, change)
            SELECT album, reader, maker, binned, kind, favourite, created, 1 FROM (\(entries));
        """

    /// Members that were chosen.
    private static let both = """
        SELECT member.asset, member.album, chosen.reader, member.position, member.maker, member.binned, member.kind,
            member.favourite, member.created, member.added, member.name
        FROM listed AS member JOIN listed AS chosen ON chosen.asset = member.asset AND chosen.album = 0
        WHERE member.reader = ''
        """

    /// Everything that is counted.
    private static let entries = """
        SELECT 0 AS album, '' AS reader, program AS maker, binned IS NOT NULL AS binned, kind, favourite, created
        FROM asset
        UNION ALL SELECT album, reader, maker, binned, kind, favourite, created FROM listed
        """

    private static let levels = (TallySchema.levels + [TallySchema.allTime])
        .map { "(\($0))" }.joined(separator: ", ")

    private static let counted = """
        SELECT album, reader, iif(under.column1, maker, '') AS maker, binned, level.column1 AS level,
            CASE level.column1 WHEN \(TallySchema.allTime) THEN 0 ELSE created >> level.column1 END AS bucket,
            \(MediaAssetKind.allCases.flatMap { kind in
                [0, 1].map { "sum(kind = '\(kind.rawValue)' AND favourite = \($0))" }
            }.joined(separator: ", "))
        FROM (\(entries)) CROSS JOIN (VALUES(0), (1)) AS under CROSS JOIN (VALUES\(levels)) AS level
        GROUP BY 1, 2, 3, 4, 5, 6
        """

    private static let tallied = """
        SELECT album, reader, maker, binned, level, bucket, \(TallySchema.countColumns.joined(separator: ", "))
        FROM tally
        """

    /// What readers see of albums: members that are not in the bin, for everybody, their makers and their choosers.
    private static let showing = """
        SELECT reader, album, sum(one) AS assets, max(made) AS made FROM (
            SELECT reader, album, 1 AS one, 0 AS made FROM listed WHERE album != 0 AND binned = 0
            UNION ALL SELECT maker, album, 1, 0 FROM listed WHERE album != 0 AND binned = 0 AND reader = ''
            UNION ALL SELECT '', number, 0, 1 FROM album
            UNION ALL SELECT program, number, 0, 1 FROM album
        ) GROUP BY reader, album
        """
}
