import CaptureCore

/// The counts of assets, by list, maker and time.
enum TallySchema {
    /// How wide the spans of time are whose assets are counted: 2 to the power of these, in milliseconds, which is from a
    /// minute to 35 years. A count between two dates adds up a few spans of each width.
    static let levels: [Int64] = [16, 20, 24, 28, 32, 36, 40]
    /// In the place of a width: all times.
    static let allTime: Int64 = 64

    /// The counted columns of `tally`: kinds in the order of `MediaAssetKind.allCases`, each unmarked and marked.
    static let countColumns = ["photos", "markedPhotos", "movies", "markedMovies", "sounds", "markedSounds"]

    /// What is inserted into `posting` counts an asset in (`change` 1) or out (-1), under every maker and its own.
    static let statements = """
        CREATE VIEW posting AS
            SELECT album, reader, maker, binned, kind, favourite, created, 1 AS change FROM listed;
        CREATE TRIGGER postingInserted INSTEAD OF INSERT ON posting BEGIN
            INSERT INTO tally(album, reader, maker, binned, level, bucket, \(countColumns.joined(separator: ", ")))
                SELECT NEW.album, NEW.reader, maker.column1, NEW.binned, level.column1,
                    CASE level.column1 WHEN \(allTime) THEN 0 ELSE NEW.created >> level.column1 END,
                    \(values)
                FROM (VALUES(''), (NEW.maker)) AS maker
                CROSS JOIN (VALUES\((levels + [allTime]).map { "(\($0))" }.joined(separator: ", "))) AS level
                WHERE true
                ON CONFLICT DO UPDATE SET
                    \(countColumns.map { "\($0) = \($0) + excluded.\($0)" }.joined(separator: ", "));
            \(removals)
        END;
        """

    private static let values = MediaAssetKind.allCases
        .flatMap { kind in
            [0, 1].map { "iif(NEW.kind = '\(kind.rawValue)' AND NEW.favourite = \($0), NEW.change, 0)" }
        }
        .joined(separator: ",\n            ")

    /// Spans in which nothing is left go. One statement for each width, since SQLite finds the row of each by its key then,
    /// and would go through all spans for all widths in one.
    private static let removals = (levels.map { ($0, "NEW.created >> \($0)") } + [(allTime, "0")])
        .map { level, bucket in
            """
            DELETE FROM tally
                    WHERE NEW.change < 0 AND album = NEW.album AND reader = NEW.reader AND maker IN ('', NEW.maker)
                        AND binned = NEW.binned AND level = \(level) AND bucket = \(bucket)
                        AND \(countColumns.map { "\($0) = 0" }.joined(separator: " AND "));
            """
        }
        .joined(separator: "\n    ")
}
