import CaptureCore

/// The tables of what is kept.
enum AssetSchema {
    /// `content`: each stored file once, by its hash. `made` is when it was made by its own account.
    ///
    /// `asset`: times are milliseconds since 1970; `number` is never used twice. `editor` is the program that made the
    /// edit, and `discarded` when it was put into the bin by the library's own clock.
    ///
    /// `house`: that clock, when the wall clock was looked at last, and how far that has gone back.
    ///
    /// `doubtful`: hashes whose file may be in the folder without a row or the other way round, because file and row
    /// come and go one after the other. Looked at when the library is opened.
    ///
    /// `transit`: recordings under way and kept ones; `facts` is what the program said of them, `why` why one is kept.
    ///
    /// `usage`: what each program has here, for quotas: bytes of originals and edits, each as often as an asset has
    /// it, though the file is there once. `edits` is besides what it has edited of others' assets: such an edit
    /// counts for both.
    static let statements = """
        CREATE TABLE meta(key TEXT NOT NULL PRIMARY KEY, value) WITHOUT ROWID;
        CREATE TABLE content(
            hash TEXT NOT NULL PRIMARY KEY CHECK(length(hash) = 64),
            size INTEGER NOT NULL CHECK(size >= 0),
            kind TEXT NOT NULL CHECK(kind IN ('photo', 'movie', 'sound')),
            mediaType TEXT NOT NULL,
            codec TEXT NOT NULL,
            width INTEGER NOT NULL CHECK(width BETWEEN 0 AND 4294967295),
            height INTEGER NOT NULL CHECK(height BETWEEN 0 AND 4294967295),
            duration INTEGER NOT NULL CHECK(duration >= 0),
            made INTEGER
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE asset(
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE CHECK(length(id) = 32),
            kind TEXT NOT NULL CHECK(kind IN ('photo', 'movie', 'sound')),
            name TEXT NOT NULL CHECK(length(name) > 0),
            created INTEGER NOT NULL,
            modified INTEGER NOT NULL,
            added INTEGER NOT NULL,
            device TEXT NOT NULL,
            latitude REAL CHECK((latitude IS NULL) = (longitude IS NULL)),
            longitude REAL,
            favourite INTEGER NOT NULL CHECK(favourite IN (0, 1)),
            program TEXT NOT NULL CHECK(length(program) > 0),
            original TEXT NOT NULL REFERENCES content(hash),
            edit TEXT REFERENCES content(hash),
            editor TEXT CHECK(length(editor) > 0),
            binned INTEGER,
            discarded INTEGER,
            CHECK((edit IS NULL) = (editor IS NULL)),
            CHECK((binned IS NULL) = (discarded IS NULL))
        ) STRICT;
        CREATE INDEX assetOriginal ON asset(original);
        CREATE INDEX assetEdit ON asset(edit) WHERE edit IS NOT NULL;
        CREATE INDEX assetDiscarded ON asset(discarded) WHERE discarded IS NOT NULL;
        CREATE TABLE house(
            id INTEGER PRIMARY KEY CHECK(id = 1),
            clock INTEGER NOT NULL,
            look INTEGER NOT NULL,
            debt INTEGER NOT NULL CHECK(debt >= 0)
        ) STRICT;
        CREATE TABLE doubtful(hash TEXT NOT NULL PRIMARY KEY) STRICT, WITHOUT ROWID;
        CREATE TABLE transit(
            id TEXT NOT NULL PRIMARY KEY CHECK(length(id) = 32),
            state TEXT NOT NULL CHECK(state IN ('open', 'kept')),
            program TEXT NOT NULL CHECK(length(program) > 0),
            started INTEGER NOT NULL,
            facts TEXT NOT NULL,
            why TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE usage(
            program TEXT NOT NULL PRIMARY KEY,
            assets INTEGER NOT NULL,
            bytes INTEGER NOT NULL,
            edits INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TRIGGER usageOfNew AFTER INSERT ON asset BEGIN
            \(count("NEW", by: 1, assets: 1))
        END;
        CREATE TRIGGER usageOfContent AFTER UPDATE OF original, edit, editor ON asset BEGIN
            \(count("NEW", by: 1, assets: 0))
            \(count("OLD", by: -1, assets: 0))
        END;
        CREATE TRIGGER usageOfGone BEFORE DELETE ON asset BEGIN
            \(count("OLD", by: -1, assets: 1))
        END;
        """

    /// Adds what a row counts for to the sums, or takes it away.
    ///
    /// - Parameter assets: 1 where the row itself comes or goes.
    private static func count(_ row: String, by sign: Int, assets: Int) -> String {
        """
        INSERT INTO usage(program, assets, bytes, edits)
                SELECT \(row).program, \(sign * assets), \(sign) * (
                        (SELECT size FROM content WHERE hash = \(row).original)
                            + coalesce((SELECT size FROM content WHERE hash = \(row).edit), 0)
                    ), 0
                UNION ALL SELECT \(row).editor, 0, 0, \(sign) * size
                    FROM content WHERE hash = \(row).edit AND \(row).editor != \(row).program
                ON CONFLICT(program) DO UPDATE SET assets = assets + excluded.assets,
                    bytes = bytes + excluded.bytes, edits = edits + excluded.edits;
            DELETE FROM usage WHERE program IN (\(row).program, \(row).editor) AND assets = 0 AND edits = 0;
        """
    }
}
